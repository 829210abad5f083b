#include "context.hpp"

#include <algorithm>
#include <cstddef>

#include "chain.hpp"
#include "code_object/target.hpp"

namespace sage::runtime {
namespace {

std::string_view processor_of(std::string_view target_id) {
  return target_id.substr(0, target_id.find(':'));
}

bool has_kernels_of(const std::vector<Candidate>& candidates, const device::Family family) {
  return std::any_of(candidates.begin(), candidates.end(), [family](const Candidate& candidate) {
    return std::any_of(candidate.kernels.begin(), candidate.kernels.end(), [family](const KernelFacts& kernel) {
      return device::tile_index(family, kernel.name) < device::tile_count;
    });
  });
}

SageStrides strides_of(const sage_strides& s) {
  return {s.batch, s.head, s.token, s.dim};
}

}  // namespace

Failure Context::make(std::vector<Offered> offered, const TuningFile& tuning, std::uint32_t api, const char* path,
                      std::unique_ptr<Context>& context) {
  if (offered.empty()) return fail(SAGE_E_NO_OBJECTS, "no code object was given");
  std::unique_ptr<Context> made{new Context};
  if (auto failure = Driver::open(api, path, made->driver_)) return failure;
  if (auto failure = made->driver_.current_device(made->device_)) return failure;
  const Device& device = made->device_;
  const auto support =
      made->driver_.api() == Api::cuda ? family_of_sm(device.sm) : family_of(processor_of(device.target));
  if (!support) return fail(SAGE_E_UNSUPPORTED_TARGET, "no kernels exist for %s", device.target.c_str());
  made->support_ = *support;
  std::vector<Candidate> candidates;
  if (auto failure = select(std::move(offered), made->driver_.api(), device, candidates)) return failure;
  if (auto failure = made->load(candidates)) return failure;
  made->tune(tuning);
  context = std::move(made);
  return success();
}

Context::~Context() {
  for (const Module module : modules_) driver_.unload(module);
}

Failure Context::load(const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates) {
    Module module = nullptr;
    if (auto failure = driver_.load(candidate.image.data(), module)) return failure;
    modules_.push_back(module);
  }
  struct Needed {
    const char* name;
    Function* function;
  };
  for (const Needed& needed :
       {Needed{device::statistics_kernel, &statistics_}, Needed{device::finalise_kernel, &finalise_},
        Needed{device::quantise_kernel, &quantise_}}) {
    if (auto failure = find(candidates, needed.name, device::prologue_threads, *needed.function)) return failure;
    if (*needed.function == nullptr)
      return fail(SAGE_E_OBJECT_KERNELS, "no code object for %s has kernel %s", device_.target.c_str(), needed.name);
  }
  if (support_.family == device::Family::sm90 && !has_kernels_of(candidates, support_.family)) {
    support_.family = device::Family::nvidia;  // PTX for an older GPU, or for sm_90 without the "a"
  }
  if (support_.family == device::Family::sm90 && !driver_.can_map_tensors()) {
    return fail(SAGE_E_RUNTIME_SYMBOL, "%s has no function cuTensorMapEncodeTiled: the kernels for sm_90 need a driver of CUDA 12 (525) or later",
                driver_.path().c_str());
  }
  bool any = false;
  for (std::size_t i = 0; i < device::tile_count; ++i) {
    const device::Tile& tile = device::tile_at(i);
    if (tile.family != support_.family) continue;
    if (auto failure = find(candidates, tile.kernel, static_cast<std::uint32_t>(tile.threads()), attention_[i]))
      return failure;
    if (attention_[i] == nullptr) continue;
    any = true;
    if (const unsigned bytes = dynamic_shared_bytes(driver_, tile); bytes != 0) {
      if (auto failure = driver_.allow_shared_bytes(attention_[i], bytes)) return failure;
    }
  }
  if (!any) return fail(SAGE_E_OBJECT_KERNELS, "no code object for %s has an attention kernel", device_.target.c_str());
  return success();
}

// A choice whose kernel is not among the objects is passed over for itself alone.
void Context::tune(const TuningFile& file) {
  if (file.text.empty() && file.reason.empty()) return;
  Tuning tuning;
  std::string reason = file.reason.empty() ? read_tuning_text(file.text, tuning) : file.reason;
  if (reason.empty()) reason = apply_tuning(tuning, support_.family, device_.target, device_.name, chosen_);
  if (!reason.empty()) {
    tuning_ = std::string{tuning_file} + " is ignored: " + reason;
    return;
  }
  std::size_t used = 0;
  for (const device::Tile*& tile : chosen_) {
    if (tile == nullptr) continue;
    if (attention_[device::tile_index(support_.family, tile->kernel)] == nullptr) {
      tile = nullptr;
    } else {
      ++used;
    }
  }
  const std::size_t all = tuning.choices.size();
  tuning_ = std::to_string(used) + (used == 1 ? " choice" : " choices") + " of " + std::string{tuning_file};
  if (used < all) tuning_ += "; the kernels of " + std::to_string(all - used) + " more are not there";
}

// Asks the driver only for kernels that the objects are known to have: a failing call would leave an error in HIP's
// per-thread state, which the next check of an unrelated program part would find.
Failure Context::find(const std::vector<Candidate>& candidates, const char* name, std::uint32_t threads,
                      Function& function) const {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& kernels = candidates[i].kernels;
    const auto facts =
        std::find_if(kernels.begin(), kernels.end(), [&](const KernelFacts& k) { return k.name == name; });
    if (facts == kernels.end()) continue;
    if (facts->argument_bytes != 0 && facts->argument_bytes != sizeof(SageArgs)) {
      return fail(SAGE_E_OBJECT_ABI, "%s: kernel %s takes %u bytes of arguments, this library passes %zu",
                  candidates[i].origin.c_str(), name, facts->argument_bytes, sizeof(SageArgs));
    }
    if (facts->max_threads != 0 && facts->max_threads < threads) {
      return fail(SAGE_E_OBJECT_ABI,
                  "%s: kernel %s was built for workgroups of up to %u threads, this library launches %u",
                  candidates[i].origin.c_str(), name, facts->max_threads, threads);
    }
    return driver_.function(modules_[i], name, function);
  }
  return success();
}

void Context::describe(sage_context_info& info) const {
  info.target = device_.target.c_str();
  info.runtime_path = driver_.path().c_str();
  info.api = static_cast<std::uint32_t>(driver_.api());
  info.device = device_.ordinal;
  info.kernel_count = static_cast<std::uint32_t>(
      std::count_if(attention_.begin(), attention_.end(), [](Function f) { return f != nullptr; }));
  info.reserved = 0;
}

Failure Context::check(const sage_attention_problem* problem, CheckedProblem& checked, Choice& choice) const {
  if (auto failure = check_problem(problem, support_, checked)) return failure;
  const device::Problem& plan = checked.plan;
  if (const device::Tile* const tile = chosen_[device::class_index(device::class_of(plan, support_.family))]; tile != nullptr) {
    choice = {tile, attention_[device::tile_index(support_.family, tile->kernel)]};
    return check_grids(plan, *tile, driver_.api() == Api::hip);
  }
  const int dp = device::padded_head_dim(plan.head_dim);
  const device::Length preferred = device::tile_length(plan.q_len, support_.family, dp);
  const device::Length other = preferred == device::Length::long_q ? device::Length::short_q : device::Length::long_q;
  // Both length classes compute the same; one can be absent where it did not compile well.
  for (const device::Length length : {preferred, other}) {
    const device::Tile* const tile = device::find_tile(support_.family, dp, plan.pv, length);
    if (tile == nullptr) continue;
    const Function function = attention_[static_cast<std::size_t>(tile - device::tile_table.data())];
    if (function == nullptr) continue;
    choice = {tile, function};
    return check_grids(plan, *tile, driver_.api() == Api::hip);
  }
  return fail(SAGE_E_NO_KERNEL, "the code objects for %s have no kernel for head_dim %d with %s",
              device_.target.c_str(), plan.head_dim, plan.pv == device::PvType::fp8 ? "fp8" : "f16");
}

Failure Context::workspace(const sage_attention_problem* problem, std::uint64_t& bytes) const {
  CheckedProblem checked;
  Choice choice;
  if (auto failure = check(problem, checked, choice)) return failure;
  bytes = static_cast<std::uint64_t>(device::workspace_layout(checked.plan, *choice.tile).bytes);
  return success();
}

Failure Context::kernel_name(const sage_attention_problem* problem, const char*& name) const {
  CheckedProblem checked;
  Choice choice;
  if (auto failure = check(problem, checked, choice)) return failure;
  name = choice.tile->kernel;
  return success();
}

Failure Context::launch(const sage_attention_problem* problem, const sage_attention_buffers* buffers,
                        Stream stream) const {
  CheckedProblem checked;
  Choice choice;
  if (auto failure = check(problem, checked, choice)) return failure;
  const auto bytes = static_cast<std::uint64_t>(device::workspace_layout(checked.plan, *choice.tile).bytes);
  sage_attention_buffers memory{};
  if (auto failure = check_buffers(buffers, checked, bytes, memory)) return failure;
  int current = 0;
  if (auto failure = driver_.current_ordinal(current)) return failure;
  if (current != device_.ordinal)
    return fail(SAGE_E_WRONG_DEVICE, "the context is for device %d, the calling thread's device is %d", device_.ordinal,
                current);

  SageArgs args{};
  args.q = memory.q;
  args.k = memory.k;
  args.v = memory.v;
  args.out = memory.out;
  args.lse = memory.lse;
  args.q_stride = strides_of(checked.fields.q);
  args.k_stride = strides_of(checked.fields.k);
  args.v_stride = strides_of(checked.fields.v);
  args.out_stride = strides_of(checked.fields.out);
  args.sm_scale = checked.fields.sm_scale;
  const ChainKernels kernels{statistics_, finalise_, quantise_, choice.function};
  return launch_chain(driver_, kernels, checked.plan, *choice.tile, args, memory.workspace, stream);
}

}  // namespace sage::runtime
