#include <algorithm>
#include <string>

#include "doctor/checks/environment_rows.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/visibility.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

std::string listing(const std::vector<Gpu>& gpus, const std::vector<std::size_t>& visible) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    parts.push_back(std::to_string(i) + " = " + gpu_label(gpus[visible[i]]));
  }
  return parts.empty() ? "none" : join(parts, ", ");
}

// "-1" is the documented way to end a list, not a slip.
bool slipped(const MaskEffect& mask) {
  return mask.cut_at && *mask.cut_at != "-1";
}

bool starts_with_no_gpu(const MaskEffect& mask) {
  return mask.cut_at && *mask.cut_at == "-1";
}

bool repeats(const MaskEffect& mask, const std::string& word) {
  const auto parts = split(mask.value, ',');
  return std::count_if(parts.begin(), parts.end(), [&](std::string_view part) { return trim(part) == word; }) > 1;
}

std::string sentence(const MaskEffect& mask) {
  const std::string word = "\"" + *mask.cut_at + "\" in " + mask.variable + "=" + mask.value;
  return word + (repeats(mask, *mask.cut_at) ? " comes twice; it ends the list" : " names no GPU; the list ends there");
}

void explain_nothing_visible(const Visibility& seen, Finding& finding) {
  const MaskEffect& last =
      *std::find_if(seen.masks.begin(), seen.masks.end(), [](const MaskEffect& mask) { return mask.after == 0; });
  finding.observed = last.variable + "=\"" + last.value + "\" hides every GPU";
  if (last.value.empty()) {
    finding.cause = "Set but empty means \"no GPU\" to ROCR_VISIBLE_DEVICES, unlike HIP_VISIBLE_DEVICES.";
  } else if (seen.masks.size() > 1 && &last != &seen.masks.front()) {
    finding.cause = last.variable + " counts in what ROCR_VISIBLE_DEVICES has left, which is " +
                    counted(last.before, "GPU") + ", numbered from 0.";
  } else {
    finding.cause = starts_with_no_gpu(last) ? "\"-1\" at the start of the list means \"no GPU\"."
                                             : "It names no GPU that exists; what it can choose from is " +
                                                   counted(last.before, "GPU") + ", numbered from 0.";
  }
}

bool only_integrated_left(const std::vector<Gpu>& gpus, const Visibility& seen) {
  const auto is_kind = [&](GpuKind kind) { return [&gpus, kind](std::size_t gpu) { return gpus[gpu].kind.is(kind); }; };
  return std::any_of(seen.unmasked.begin(), seen.unmasked.end(), is_kind(GpuKind::discrete)) &&
         std::all_of(seen.hip.begin(), seen.hip.end(), is_kind(GpuKind::integrated));
}

// Chooses a discrete GPU by UUID where it has one: positions change when a GPU comes or goes (facts/bugs.md B17).
std::optional<Remedy> choose_discrete(const std::vector<Gpu>& gpus, const std::vector<std::size_t>& order,
                                      const std::vector<const Variable*>& masks) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Gpu& gpu = gpus[order[i]];
    if (!gpu.kind.is(GpuKind::discrete)) continue;
    const std::string uuid = gpu.uuid.value_or("");
    Remedy remedy{"Choose " + gpu_label(gpu) + ".", {}, {}};
    // Masks of HIP count in what ROCR_VISIBLE_DEVICES leaves: an old one would hide the GPU that is chosen here.
    for (const Variable* mask : masks) {
      if (mask->name != "ROCR_VISIBLE_DEVICES") remedy.commands.push_back("unset " + mask->name);
    }
    remedy.commands.push_back("export ROCR_VISIBLE_DEVICES=" + (uuid.empty() ? std::to_string(i) : uuid));
    return remedy;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Finding> check_visible_devices(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_gpu(facts)) return {*skip};
  const Result<Visibility> result = visible_gpus(facts);
  if (!result) return {make_finding(Status::skip, "unknown: " + result.error().text)};
  const Visibility& seen = *result;
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  if (seen.unmasked.empty()) return {not_applicable("the runtime finds no GPU even without a mask")};
  if (seen.masks.empty()) return {pass("no variable hides a GPU; HIP and PyTorch count " + listing(gpus, seen.hip))};

  Finding finding = pass("HIP and PyTorch count " + listing(gpus, seen.hip));
  const auto slip = std::find_if(seen.masks.begin(), seen.masks.end(), slipped);
  if (seen.hip.empty()) {
    finding.status = Status::fail;
    explain_nothing_visible(seen, finding);
  } else if (slip != seen.masks.end()) {
    finding.status = Status::warn;
    finding.observed = sentence(*slip);
    finding.cause = "HIP and PyTorch now count " + listing(gpus, seen.hip) + ".";
  } else {
    for (const std::size_t gpu : seen.unmasked) {
      if (auto skip = skip_unless_known({{"gpus.amd.kind", &gpus[gpu].kind}})) return {*skip};
    }
    if (only_integrated_left(gpus, seen)) {
      finding.status = Status::warn;
      finding.observed = "only the integrated GPU is visible; the discrete one is hidden";
      finding.cause = "Without a mask the order is " + listing(gpus, seen.unmasked) + ".";
    }
  }
  std::vector<const Variable*> masks;
  for (const MaskEffect& mask : seen.masks) {
    const Variable& variable = *facts.environment.find(mask.variable);
    const auto evidence = variable_evidence(variable);
    finding.evidence.insert(finding.evidence.end(), evidence.begin(), evidence.end());
    masks.push_back(&variable);
  }
  finding.evidence.push_back({"ROCr programs see", listing(gpus, seen.runtime)});
  if (finding.status == Status::pass) return {finding};
  finding.remedies = {unset_remedy(masks)};
  if (seen.unmasked.size() > 1) {
    if (auto choice = choose_discrete(gpus, seen.unmasked, masks)) finding.remedies.push_back(*choice);
  }
  finding.verify = "env | grep VISIBLE_DEVICES";
  return {finding};
}

}  // namespace sage
