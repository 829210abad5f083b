#include <algorithm>

#include "doctor/checks/accepted_targets.hpp"
#include "doctor/checks/environment_rows.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

std::vector<Finding> check_hip_platform(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_gpu(facts)) return {*skip};
  const auto value = facts.environment.get("HIP_PLATFORM");
  if (auto skip = skip_unless_known({{"environment.HIP_PLATFORM", &value}})) return {*skip};
  if (!value->has_value() || (*value)->empty()) return {pass("HIP_PLATFORM is not set; hipcc chooses amd")};
  if (**value == "amd") return {pass("HIP_PLATFORM=amd")};

  const Variable& variable = *facts.environment.find("HIP_PLATFORM");
  Finding finding = warn("HIP_PLATFORM=" + **value + " makes hipcc build for something other than AMD GPUs");
  finding.evidence = variable_evidence(variable);
  finding.cause = "With `nvidia` hipcc calls nvcc; older names such as `hcc` are no longer known.";
  finding.confidence = Confidence::likely;
  finding.remedies = {unset_remedy({&variable})};
  finding.verify = "hipconfig --platform    # amd";
  return {finding};
}

// PYTORCH_ROCM_ARCH is split at semicolons, blanks and commas; features such as ":xnack-" follow the name.
std::vector<std::string> listed_targets(std::string value) {
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == ';' || c == ','; }, ' ');
  std::vector<std::string> targets;
  for (const std::string_view word : words(value)) targets.emplace_back(split(word, ':').front());
  return targets;
}

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool served(const CheckInput& input, const Gpu& gpu, const std::vector<std::string>& listed) {
  const std::vector<std::string> accepted = accepted_targets(input, gpu);
  return std::any_of(accepted.begin(), accepted.end(), [&](const std::string& name) { return has(listed, name); });
}

std::vector<Finding> check_rocm_arch(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_gpu(facts)) return {*skip};
  const auto value = facts.environment.get("PYTORCH_ROCM_ARCH");
  if (auto skip = skip_unless_known({{"environment.PYTORCH_ROCM_ARCH", &value}})) return {*skip};
  if (!value->has_value() || trim(**value).empty()) {
    return {pass("PYTORCH_ROCM_ARCH is not set; builds take the GPUs that they see")};
  }
  const Variable& variable = *facts.environment.find("PYTORCH_ROCM_ARCH");
  const std::vector<std::string> listed = listed_targets(**value);

  std::vector<std::string> strangers;
  for (const std::string& name : listed) {
    if (name != "native" && input.tables.target(name) == nullptr) strangers.push_back(name);
  }
  std::vector<std::string> unserved;
  std::vector<std::string> missing;
  bool discrete_served = false;
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (auto skip = skip_unless_known({{"gpus.amd.target", &gpu.target}})) return {*skip};
    if (has(listed, "native") || served(input, gpu, listed)) {
      discrete_served = discrete_served || gpu.kind.is(GpuKind::discrete);
    } else {
      unserved.push_back(gpu_label(gpu) + " needs " + *gpu.target);
      missing.push_back(*gpu.target);
    }
  }
  // Leaving an integrated GPU out is what a sensible list does beside a discrete one.
  const bool only_integrated_left_out =
      discrete_served && std::all_of(facts.gpus.amd->begin(), facts.gpus.amd->end(), [&](const Gpu& gpu) {
        return gpu.kind.is(GpuKind::integrated) || served(input, gpu, listed);
      });
  if (only_integrated_left_out) missing.clear();
  if (strangers.empty() && missing.empty()) return {pass("PYTORCH_ROCM_ARCH=" + **value + " covers this machine")};

  Finding finding = warn(missing.empty() ? "PYTORCH_ROCM_ARCH names unknown targets: " + join(strangers, ", ")
                                         : "PYTORCH_ROCM_ARCH=" + **value + " leaves out " + missing.front());
  finding.evidence = variable_evidence(variable);
  if (!missing.empty()) {
    for (const std::string& line : unserved) finding.evidence.push_back({"GPU", line});
  }
  finding.cause = missing.empty()
                      ? "No table of this program knows them; the compiler may refuse them."
                      : "Extensions built with this list have no code for the GPU and fail at run time with "
                        "\"invalid device function\".";
  finding.confidence = missing.empty() ? Confidence::possible : Confidence::certain;
  finding.remedies = {unset_remedy({&variable})};
  if (!missing.empty()) {
    finding.remedies.push_back({"Name the GPU's target.", {"export PYTORCH_ROCM_ARCH=" + missing.front()}, {}});
  }
  finding.verify = "echo \"$PYTORCH_ROCM_ARCH\"";
  return {finding};
}

}  // namespace

std::vector<Check> environment_checks() {
  return {
      {"env.override-empty", "no empty override", Topic::environment, {"gpu.present"}, check_override_empty},
      {"env.override-format", "override is a version", Topic::environment, {"gpu.present"}, check_override_format},
      {"env.override-mismatch", "override fits the GPU", Topic::environment, {"gpu.present"}, check_override_mismatch},
      {"env.visible-devices", "GPUs not hidden", Topic::environment, {"gpu.present"}, check_visible_devices},
      {"env.rocm-paths", "ROCm folders", Topic::environment, {"gpu.present"}, check_rocm_paths},
      {"env.library-path", "LD_LIBRARY_PATH", Topic::environment, {"gpu.present"}, check_library_path},
      {"env.preload", "LD_PRELOAD", Topic::environment, {"gpu.present"}, check_preload},
      {"env.hip-platform", "HIP_PLATFORM", Topic::environment, {"gpu.present"}, check_hip_platform},
      {"env.rocm-arch", "PYTORCH_ROCM_ARCH", Topic::environment, {"gpu.present"}, check_rocm_arch},
      {"env.script-stale", "environment script", Topic::environment, {}, check_script_stale},
      {"env.script-clash", "values of your own", Topic::environment, {"gpu.present"}, check_script_clash},
      {"env.interactive-only", "variables everywhere", Topic::environment, {"gpu.present"}, check_interactive_only},
  };
}

}  // namespace sage
