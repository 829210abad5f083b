// Variables that only ~/.bashrc sets: the terminal has them, an editor, a service or a cron job has not, and the same
// program works here and fails there.

#include <algorithm>
#include <array>
#include <optional>

#include "doctor/checks/environment_rows.hpp"
#include "doctor/checks/interactive_files.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

/// What programs and builds go by. HSA_ENABLE_DXG_DETECTION is judged by wsl.dxg-detection-off, for each runtime; an
/// override had better go than come along everywhere.
constexpr auto wanted_everywhere = std::to_array<std::string_view>({
    "FLASH_ATTENTION_TRITON_AMD_ENABLE",
    "HIP_DEVICE_LIB_PATH",
    "HIP_PATH",
    "HIP_VISIBLE_DEVICES",
    "HSA_ENABLE_SDMA",
    "HSA_XNACK",
    "LD_LIBRARY_PATH",
    "PYTORCH_ROCM_ARCH",
    "ROCM_HOME",
    "ROCM_PATH",
    "ROCR_VISIBLE_DEVICES",
    "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL",
    "TRITON_LIBHIP_PATH",
});

bool set_and_not_empty(const Variable& variable) {
  return variable.value->has_value() && !(*variable.value)->empty();
}

Finding only_interactive(const std::vector<const Variable*>& variables) {
  std::vector<std::string> names;
  for (const Variable* variable : variables) names.push_back(variable->name);
  Finding finding = warn(join(names, ", ") + (names.size() == 1 ? " is" : " are") + " set here, but only by " +
                         variables.front()->assignments->front().file);
  for (const Variable* variable : variables) {
    const auto evidence = variable_evidence(*variable);
    finding.evidence.insert(finding.evidence.end(), evidence.begin(), evidence.end());
  }
  finding.cause =
      "Shells that are not interactive leave that file early: an editor, a service or a cron job runs without it, and "
      "may choose another ROCm or another GPU.";
  finding.confidence = Confidence::likely;
  finding.remedies = {{"Move the lines to ~/.profile and log in again. bash reads ~/.bash_profile instead where that "
                       "exists, zsh ~/.zprofile. Job scripts and services want them of their own.",
                       {edit_command(variables.front()->assignments->front().file,
                                     variables.front()->assignments->front().line)},
                       {Need::new_login}}};
  finding.verify = "env -u " + names.front() + " bash -lc 'echo $" + names.front() + "'";
  return finding;
}

}  // namespace

std::vector<Finding> check_interactive_only(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_gpu(facts)) return {*skip};
  std::vector<const Variable*> found;
  std::optional<Finding> unknown;
  for (const std::string_view name : wanted_everywhere) {
    const Variable* variable = facts.environment.find(name);
    if (variable == nullptr) continue;
    const std::string place = "environment." + std::string(name);
    const std::string lines = place + ".assignments";
    if (auto skip = skip_unless_known({{place, &variable->value}, {lines, &variable->assignments}})) {
      unknown = skip;
    } else if (set_and_not_empty(*variable) && set_only_interactively(*variable->assignments)) {
      found.push_back(variable);
    }
  }
  if (!found.empty()) return {only_interactive(found)};
  return {unknown ? *unknown : pass("no variable depends on a file that only interactive shells read")};
}

}  // namespace sage
