#include "doctor/build/compile/object.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "kernels/code_object/code_object.hpp"
#include "kernels/code_object/cubin.hpp"
#include "probes/base/text.hpp"
#include "probes/proof_child/unbundle.hpp"

namespace sage {
namespace {

namespace co = code_object;

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

/// The threads with which the runtime launches a unit's kernels.
int threads_of(const Unit& unit) { return unit.tile == nullptr ? device::prologue_threads : unit.tile->threads(); }

/// Vector registers that a wave may have so that the tile's workgroup, and as many waves as the table asks for, fit a
/// compute unit of four SIMDs. nullopt where the chip's registers are not known.
std::optional<std::uint32_t> register_budget(const device::Tile& tile, const GfxTarget* chip) {
  if (chip == nullptr || chip->vgprs_per_simd == 0) return std::nullopt;
  constexpr int simds = 4;
  const int waves = std::max(tile.occupancy, (tile.waves + simds - 1) / simds);
  return chip->vgprs_per_simd / static_cast<std::uint32_t>(waves);
}

class Verification {
 public:
  Verification(std::string_view target, const Unit& unit, const GfxTables& tables)
      : target_(target), unit_(unit), tables_(tables) {}

  VerifiedObject run(std::string_view bytes) {
    if (bytes.empty()) {
      refuse("the compiler wrote no code object");
    } else if (target_.starts_with("sm_")) {
      look_at_cubin(bytes);
    } else {
      look_at_amd(bytes);
    }
    return std::move(found_);
  }

 private:
  void refuse(std::string why) { found_.refusals.push_back(std::move(why)); }
  void complain(std::string what) { found_.complaints.push_back(std::move(what)); }

  void look_at_amd(std::string_view bytes) {
    auto contents = unbundled(co::as_bytes(bytes), target_);
    if (!contents) return refuse(contents.error().text);
    const auto object = co::read_code_object(*contents);
    if (!object) return refuse("no sound code object: " + object.error().message);
    const std::string is_for = co::target_id(object->target);
    if (is_for != target_) return refuse("the code object is for " + is_for + ", not for " + std::string(target_));
    const GfxTarget* chip = tables_.target(object->target.processor);
    for (const std::string& name : unit_.kernels) {
      const co::Kernel* kernel = object->find_kernel(name);
      if (kernel == nullptr) {
        refuse("kernel " + name + " is missing");
      } else {
        judge(*object, *kernel, chip);
      }
    }
    found_.bytes = std::string(co::as_text(*contents));
  }

  void judge(const co::CodeObject& object, const co::Kernel& kernel, const GfxTarget* chip) {
    const co::KernelMetadata& meta = kernel.metadata;
    const std::string& name = meta.name;
    for (const std::string& what : co::contradictions(object, kernel)) refuse("kernel " + name + ": " + what);
    if (!kernel.exported) refuse("kernel " + name + " is not in the dynamic symbol table, where the runtime looks");
    if (meta.explicit_kernarg_bytes != sizeof(SageArgs)) {
      refuse("kernel " + name + " takes " + counted(meta.explicit_kernarg_bytes, "byte") + " of arguments, not " +
             std::to_string(sizeof(SageArgs)));
    }
    if (meta.max_workgroup_size != 0 && meta.max_workgroup_size < static_cast<std::uint32_t>(threads_of(unit_))) {
      refuse("kernel " + name + " allows workgroups of " + counted(meta.max_workgroup_size, "thread") +
             "; it is launched with " + std::to_string(threads_of(unit_)));
    }
    const KernelResources uses{name,           meta.vgpr_count,
                               meta.sgpr_count, meta.lds_bytes,
                               meta.scratch_bytes_per_lane, meta.vgpr_spill_count + meta.sgpr_spill_count};
    if (meta.vgpr_spill_count != 0) complain(name + " spills " + counted(meta.vgpr_spill_count, "vector register"));
    if (meta.sgpr_spill_count != 0) {
      // Into lanes of vector registers: a few instructions, no memory. Where memory is used, scratch says so.
      found_.notes.push_back(name + " spills " + counted(meta.sgpr_spill_count, "scalar register"));
    }
    judge_resources(uses, meta.dynamic_stack, chip);
    found_.kernels.push_back(uses);
  }

  void judge_resources(const KernelResources& uses, bool dynamic_stack, const GfxTarget* chip) {
    if (uses.scratch_bytes != 0) complain(uses.kernel + " uses " + counted(uses.scratch_bytes, "byte") + " of scratch memory");
    if (dynamic_stack) complain(uses.kernel + " has a stack of unknown size");
    if (unit_.tile == nullptr) return;
    const auto lds = static_cast<std::uint32_t>(device::tile_lds_bytes(*unit_.tile));
    if (uses.lds_bytes > lds) {
      complain(uses.kernel + " uses " + counted(uses.lds_bytes, "byte") + " of LDS, the table says " + std::to_string(lds));
    }
    const auto budget = register_budget(*unit_.tile, chip);
    if (budget && uses.vgprs > *budget) {
      complain(uses.kernel + " needs " + std::to_string(uses.vgprs) + " registers; its workgroup fits with " +
               std::to_string(*budget));
    }
  }

  void look_at_cubin(std::string_view bytes) {
    const auto cubin = co::read_cubin(co::as_bytes(bytes));
    if (!cubin) return refuse("no sound cubin: " + cubin.error().message);
    const std::string is_for = "sm_" + std::to_string(cubin->sm);
    if (is_for != target_) return refuse("the cubin is for " + is_for + ", not for " + std::string(target_));
    for (const std::string& name : unit_.kernels) {
      const auto index = static_cast<std::size_t>(
          std::find(cubin->kernels.begin(), cubin->kernels.end(), name) - cubin->kernels.begin());
      if (index == cubin->kernels.size()) {
        refuse("kernel " + name + " is missing");
        continue;
      }
      KernelResources uses;
      uses.kernel = name;
      uses.vgprs = cubin->resources[index].registers;
      uses.scratch_bytes = cubin->resources[index].frame_bytes;
      if (uses.scratch_bytes != 0) complain(name + " has a stack of " + counted(uses.scratch_bytes, "byte") + " a thread");
      found_.kernels.push_back(uses);
    }
    found_.bytes = std::string(bytes);
  }

  std::string_view target_;
  const Unit& unit_;
  const GfxTables& tables_;
  VerifiedObject found_;
};

}  // namespace

VerifiedObject verify_object(std::string_view bytes, std::string_view target, const Unit& unit,
                             const GfxTables& tables) {
  return Verification(target, unit, tables).run(bytes);
}

}  // namespace sage
