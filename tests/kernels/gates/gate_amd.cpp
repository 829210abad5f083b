// Usage: gate_amd DEVICE_TEXT TARGET [alternatives]
// Compiles the device text with clang-19 and holds the result against the tile table, limits.cpp and the figures of the
// model. Status 77: no such compiler.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "figures.hpp"
#include "limits.hpp"
#include "measure.hpp"
#include "programs.hpp"

namespace {

using namespace sage;

class Gate {
 public:
  explicit Gate(std::string target) : target_{std::move(target)} {}

  void expect(bool holds, const std::string& kernel, const std::string& what) {
    ++checks_;
    if (holds) return;
    ++failures_;
    std::printf("FAIL %s %s: %s\n", target_.c_str(), kernel.c_str(), what.c_str());
  }
  void equal(long actual, long expected, const std::string& kernel, const std::string& what) {
    expect(actual == expected, kernel,
           what + " is " + std::to_string(actual) + ", expected " + std::to_string(expected));
  }
  void at_most(long actual, long limit, const std::string& kernel, const std::string& what) {
    expect(actual <= limit, kernel,
           what + " is " + std::to_string(actual) + ", at most " + std::to_string(limit) + " are allowed");
  }
  [[nodiscard]] int failures() const { return failures_; }
  [[nodiscard]] int checks() const { return checks_; }

 private:
  std::string target_;
  int failures_ = 0;
  int checks_ = 0;
};

constexpr int hardware_sgprs = 106;

// Kernels that compile alike share the rows of their first member.
std::string_view limits_target(const gates::Machine& machine) {
  return machine.family == device::Family::gfx11 ? "gfx1100" : machine.target;
}

// The kept figures are those of this text: other patch releases of the compiler may differ a little.
void check_figures(Gate& gate, const gates::Machine& machine, const gates::KernelFigures& kernel) {
  if (model::figures_target(machine.target) != machine.target) return;
  const model::Figures* const kept = model::find_figures(machine.target, kernel.name);
  gate.expect(kept != nullptr, kernel.name, "has no row in kernels/model/figures.inc");
  if (kept == nullptr) return;
  gate.equal(kept->int8 + kept->f16 + kept->fp8, kernel.loop.matrix.total(), kernel.name, "number of matrix instructions that are kept");
  const double off = std::abs(kept->hot - kernel.loop.hot) / static_cast<double>(kernel.loop.hot);
  gate.expect(off <= 0.03, kernel.name,
              "figures.inc has " + std::to_string(kept->hot) + " issue slots, the compiler gives " + std::to_string(kernel.loop.hot));
}

void check_kernel(Gate& gate, const gates::Machine& machine, const gates::KernelFigures& kernel) {
  const code_object::KernelMetadata& meta = kernel.metadata;
  gate.equal(meta.scratch_bytes_per_lane, 0, kernel.name, "scratch");
  gate.equal(meta.vgpr_spill_count, 0, kernel.name, "number of spilled vector registers");
  gate.equal(meta.sgpr_spill_count, 0, kernel.name, "number of spilled scalar registers");
  gate.expect(!meta.dynamic_stack, kernel.name, "uses a dynamic stack");
  gate.at_most(meta.sgpr_count, hardware_sgprs, kernel.name, "number of scalar registers");
  gate.equal(meta.explicit_kernarg_bytes, sizeof(SageArgs), kernel.name, "size of the argument block");
  if (kernel.tile == nullptr) {
    gate.at_most(device::prologue_threads, meta.max_workgroup_size, kernel.name, "workgroup that the runtime launches");
    return;
  }
  const device::Tile& tile = *kernel.tile;
  gate.equal(meta.wavefront_size, tile.wave_size(), kernel.name, "wavefront size");
  gate.equal(meta.max_workgroup_size, tile.threads(), kernel.name, "workgroup size");
  gate.equal(meta.lds_bytes, device::tile_lds_bytes(tile), kernel.name, "LDS");
  const int expected = device::tile_matrix_instructions(tile, machine.wide_int8);
  gate.equal(kernel.loop.matrix.total(), expected, kernel.name, "number of matrix instructions in the loop");
  gate.equal(kernel.loop.whole_kernel.total(), expected, kernel.name, "number of matrix instructions in the kernel");
  gate.expect(kernel.loop.matrix.int8 > 0, kernel.name, "has no int8 matrix instruction");
  gate.expect((tile.pv == device::PvType::fp8 ? kernel.loop.matrix.fp8 : kernel.loop.matrix.f16) > 0, kernel.name,
              "has no matrix instruction of its PV type");
  gate.expect(kernel.occupancy >= 1, kernel.name, "does not fit onto a SIMD");
  check_figures(gate, machine, kernel);
  if (tile.alternative) return;
  const gates::Limit* const limit = gates::find_limit(limits_target(machine), kernel.name);
  gate.expect(limit != nullptr, kernel.name, "has no row in limits.cpp");
  if (limit == nullptr) return;
  gate.at_most(meta.vgpr_count, limit->vgprs, kernel.name, "number of vector registers");
  gate.at_most(kernel.loop.slots(), limit->slots, kernel.name, "number of issue slots per iteration");
}

int run(const std::string& text, const gates::Machine& machine, gates::Tiles tiles) {
  const test::TemporaryFolder folder;
  const gates::Measured measured = gates::measure(text, machine, folder.path(), tiles);
  if (!measured.ok) {
    std::printf("FAIL %s\n", measured.problem.c_str());
    return 1;
  }
  Gate gate{std::string{machine.target}};
  gate.expect(measured.object.target.processor == machine.target, "object",
              "is for " + measured.object.target.processor);
  for (const code_object::Kernel& kernel : measured.object.kernels) {
    gate.expect(kernel.exported, kernel.metadata.name, "is not in the dynamic symbol table: no runtime would find it");
    for (const std::string& complaint : code_object::contradictions(measured.object, kernel))
      gate.expect(false, kernel.metadata.name, complaint);
  }
  std::size_t expected_kernels = 0;
  if (tiles == gates::Tiles::every_build) {
    for (const char* const name : {device::statistics_kernel, device::finalise_kernel, device::quantise_kernel}) {
      ++expected_kernels;
      gate.expect(measured.object.find_kernel(name) != nullptr, name, "is missing");
    }
  }
  for (std::size_t i = 0; i < device::tile_count; ++i) {
    const device::Tile& tile = device::tile_at(i);
    if (!gates::is_measured(tile, machine, tiles)) continue;
    ++expected_kernels;
    gate.expect(measured.object.find_kernel(tile.kernel) != nullptr, tile.kernel, "is missing");
  }
  gate.equal(static_cast<long>(measured.object.kernels.size()), static_cast<long>(expected_kernels), "object",
             "number of kernels");
  for (const gates::KernelFigures& kernel : measured.kernels) check_kernel(gate, machine, kernel);
  std::printf("%s: %zu kernels, %d checks, %d failed\n", std::string{machine.target}.c_str(), measured.kernels.size(),
              gate.checks(), gate.failures());
  return gate.failures() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool alternatives = argc == 4 && std::string_view{argv[3]} == "alternatives";
  if (argc != 3 && !alternatives) {
    std::fprintf(stderr, "usage: gate_amd DEVICE_TEXT TARGET [alternatives]\n");
    return 2;
  }
  const gates::Machine* const machine = gates::find_machine(argv[2]);
  if (machine == nullptr) {
    std::fprintf(stderr, "gate_amd: unknown target %s\n", argv[2]);
    return 2;
  }
  for (const char* const program : {"clang++-19", "llvm-objdump-19"}) {
    if (test::find_program(program).empty()) {
      std::printf("skipped: %s is not on PATH\n", program);
      return 77;
    }
  }
  return run(argv[1], *machine, alternatives ? gates::Tiles::alternatives : gates::Tiles::every_build);
}
