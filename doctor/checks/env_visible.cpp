#include <algorithm>
#include <array>

#include "doctor/checks/environment_rows.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/visibility.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr auto mask_names =
    std::to_array<std::string_view>({"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"});

// A GPU of which the thunk keeps silent: hidden by a device cgroup, or without render node (facts/gfx.md 3).
bool reachable(const Facts& facts, const Gpu& gpu) {
  if (!*gpu.in_kfd || !*gpu.kfd_readable) return false;
  const auto& nodes = *facts.devices.dri;
  return std::any_of(nodes.begin(), nodes.end(), [&](const DeviceNode& node) {
    return node.path == *gpu.render_node && !node.present.is(false);
  });
}

// The GPUs that the runtime finds before any mask, in its order; or why that is unknown.
struct RuntimeOrder {
  std::optional<Finding> unknown;
  std::vector<const Gpu*> gpus;
};

RuntimeOrder runtime_order(const Facts& facts) {
  RuntimeOrder order;
  const std::vector<Gpu>& all = *facts.gpus.amd;
  if (uses_dxg(*facts.platform.kind)) {
    for (const Gpu& gpu : all) order.gpus.push_back(&gpu);
    return order;
  }
  order.unknown = skip_unless_known({{"devices.dri", &facts.devices.dri}});
  for (const Gpu& gpu : all) {
    if (order.unknown) return order;
    order.unknown = skip_unless_known({{"gpus.amd.in_kfd", &gpu.in_kfd}});
    if (order.unknown || !*gpu.in_kfd) continue;
    order.unknown = skip_unless_known({{"gpus.amd.kfd_index", &gpu.kfd_index},
                                       {"gpus.amd.kfd_readable", &gpu.kfd_readable},
                                       {"gpus.amd.render_node", &gpu.render_node}});
    if (!order.unknown && reachable(facts, gpu)) order.gpus.push_back(&gpu);
  }
  std::sort(order.gpus.begin(), order.gpus.end(),
            [](const Gpu* a, const Gpu* b) { return *a->kfd_index < *b->kfd_index; });
  return order;
}

std::string listing(const std::vector<const Gpu*>& gpus, const std::vector<std::size_t>& visible) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    parts.push_back(std::to_string(i) + " = " + gpu_label(*gpus[visible[i]]));
  }
  return parts.empty() ? "none" : join(parts, ", ");
}

std::string sentence(const MaskProblem& problem) {
  const std::string word = "\"" + problem.word + "\" in " + problem.variable;
  if (problem.duplicate) return word + " names a GPU twice" + (problem.cuts ? "; the rest of the list is ignored" : "");
  return word + " names no GPU; it and the rest of the list are ignored";
}

bool kinds_known(const std::vector<const Gpu*>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [](const Gpu* gpu) { return gpu->kind.known(); });
}

bool only_integrated_left(const std::vector<const Gpu*>& gpus, const std::vector<std::size_t>& visible) {
  const bool discrete_exists =
      std::any_of(gpus.begin(), gpus.end(), [](const Gpu* gpu) { return gpu->kind.is(GpuKind::discrete); });
  return discrete_exists && std::all_of(visible.begin(), visible.end(), [&](std::size_t position) {
           return gpus[position]->kind.is(GpuKind::integrated);
         });
}

// Chooses the discrete GPU by UUID where it has one: positions change when a GPU comes or goes (facts/bugs.md B17).
std::optional<Remedy> choose_discrete(const std::vector<const Gpu*>& gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!gpus[i]->kind.is(GpuKind::discrete)) continue;
    const std::string uuid = gpus[i]->uuid.value_or("");
    return Remedy{"Or choose " + gpu_label(*gpus[i]) + ":",
                  {"export ROCR_VISIBLE_DEVICES=" + (uuid.empty() ? std::to_string(i) : uuid)},
                  {}};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Finding> check_visible_devices(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_gpu(facts)) return {*skip};
  std::array<std::optional<std::string>, mask_names.size()> values;
  for (std::size_t i = 0; i < mask_names.size(); ++i) {
    const auto value = facts.environment.get(mask_names[i]);
    if (auto skip = skip_unless_known({{"environment." + std::string(mask_names[i]), &value}})) return {*skip};
    values[i] = *value;
  }
  const RuntimeOrder order = runtime_order(facts);
  if (order.unknown) return {*order.unknown};
  if (order.gpus.empty()) return {not_applicable("the runtime finds no GPU even without a mask")};

  const bool masked = std::any_of(values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
  if (!masked) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < order.gpus.size(); ++i) all.push_back(i);
    return {pass("no variable hides a GPU; HIP and PyTorch count " + listing(order.gpus, all))};
  }

  std::vector<std::string> uuids;
  for (const Gpu* gpu : order.gpus) {
    const bool by_uuid = std::any_of(values.begin(), values.end(), [](const auto& value) {
      return value && contains_ignoring_case(*value, "gpu-");
    });
    if (by_uuid) {
      if (auto skip = skip_unless_known({{"gpus.amd.uuid", &gpu->uuid}})) return {*skip};
    }
    uuids.push_back(gpu->uuid.value_or(""));
  }
  const Visibility visible = simulate_visibility(uuids, {values[0], values[1], values[2]});

  Finding finding = pass("HIP and PyTorch count " + listing(order.gpus, visible.hip));
  if (visible.hip.empty()) {
    finding.status = Status::fail;
    finding.observed = std::string(visible.rocr.empty() ? "ROCR_VISIBLE_DEVICES" : visible.hip_variable) +
                       " hides every GPU";
    finding.cause = visible.rocr.empty() && values[0]->empty()
                        ? "Set but empty means \"no GPU\" to ROCR_VISIBLE_DEVICES, unlike HIP_VISIBLE_DEVICES."
                        : "The list names no GPU that exists.";
    if (!visible.rocr.empty() && values[0]) {
      finding.cause = visible.hip_variable + " counts in what ROCR_VISIBLE_DEVICES has left, not in all GPUs.";
    }
  } else if (!visible.problems.empty()) {
    finding.status = Status::warn;
    finding.observed = sentence(visible.problems.front());
    finding.cause = "HIP and PyTorch now count " + listing(order.gpus, visible.hip) + ".";
  } else {
    if (!kinds_known(order.gpus)) {
      return {make_finding(Status::skip, "unknown: which GPU is the integrated one (gpus.amd.kind)")};
    }
    if (only_integrated_left(order.gpus, visible.hip)) {
      finding.status = Status::warn;
      finding.observed = "only the integrated GPU is visible; the discrete one is hidden";
      finding.cause = "The list counts in the order " + listing(order.gpus, visible.rocr) + ".";
    }
  }
  for (const MaskProblem& problem : visible.problems) finding.evidence.push_back({problem.variable, sentence(problem)});
  for (std::size_t i = 0; i < mask_names.size(); ++i) {
    if (!values[i]) continue;
    const Variable& variable = *facts.environment.find(mask_names[i]);
    const auto evidence = variable_evidence(variable);
    finding.evidence.insert(finding.evidence.end(), evidence.begin(), evidence.end());
    if (finding.status == Status::pass) continue;
    const auto remedies = unset_remedies(variable);
    finding.remedies.insert(finding.remedies.end(), remedies.begin(), remedies.end());
  }
  finding.evidence.push_back({"ROCr programs see", listing(order.gpus, visible.rocr)});
  if (finding.status == Status::pass) return {finding};
  if (order.gpus.size() > 1) {
    if (auto choice = choose_discrete(order.gpus)) finding.remedies.push_back(*choice);
  }
  finding.verify = "env | grep VISIBLE_DEVICES";
  return {finding};
}

}  // namespace sage
