// HSA_ENABLE_DXG_DETECTION, the variable that ROCm 7.1 to 7.12 wants to be exactly "1" and that turns the way to
// Windows off in every release when it is "0". Facts: facts/wsl.md 2.4, W6. There is one finding for each runtime, in
// the same words wherever the same is to be done, so that a report can tell them together.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/checks/interactive_files.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "doctor/checks/wsl_copies.hpp"
#include "doctor/checks/wsl_rows.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::string_view detection_variable = "HSA_ENABLE_DXG_DETECTION";

Remedy export_in_profile(const Facts& facts) {
  if (in_container(facts)) return pass_dxg_into_container();
  return {
      "Set it in ~/.profile, not in ~/.bashrc, and log in again (or run the line in this shell too). bash reads "
      "~/.bash_profile instead where that exists, zsh ~/.zprofile. Job scripts and services want it of their own.",
      {"echo 'export HSA_ENABLE_DXG_DETECTION=1' >> ~/.profile", "export HSA_ENABLE_DXG_DETECTION=1"},
      {Need::new_login}};
}

Finding detection_finding(Status status, const Facts& facts, const HsaCopy& hsa, std::string observed) {
  Finding finding = make_finding(status, std::move(observed), hsa.path);
  if (hsa.rocm_version.known()) {
    finding.evidence.push_back({hsa.version_source.value_or(hsa.path), "ROCm " + *hsa.rocm_version});
  }
  add_variable(facts, detection_variable, finding);
  finding.verify = verify_gpu_works(facts, "wsl.dxg-detection-off");
  return finding;
}

// `one_wanted`: some runtime here needs a 1, so that taking the variable away would only exchange the trouble.
Finding switched_off(const Facts& facts, const Copy& copy, bool one_wanted) {
  const std::string observed = "HSA_ENABLE_DXG_DETECTION is 0, which turns the way to /dev/dxg off";
  if (copy.reach == Reach::linked_in) {
    Finding finding = detection_finding(Status::warn, facts, *copy.hsa, observed + " in every runtime but this one");
    finding.cause = "The roc4wsl runtime does not ask for the variable; the next ROCm will, and nothing needs a 0.";
    finding.remedies = remove_variable(facts, detection_variable);
    return finding;
  }
  Finding finding = detection_finding(Status::fail, facts, *copy.hsa, observed);
  finding.cause = "The runtime takes 0 as \"do not look for the GPU of Windows\", in every release.";
  finding.remedies = remove_variable(facts, detection_variable);
  if (one_wanted) {
    finding.remedies.insert(finding.remedies.begin(), export_in_profile(facts));
    finding.remedies.front().text += " Delete the line that sets it to 0.";
  }
  return finding;
}

// The variable is "1" and the runtime needs it: is it so in every shell?
Finding switched_on(const Facts& facts, const Copy& copy) {
  const Variable* entry = facts.environment.find(detection_variable);
  if (entry == nullptr || !entry->assignments.known()) {
    return detection_finding(Status::info, facts, *copy.hsa,
                             "HSA_ENABLE_DXG_DETECTION is 1 here; which file sets it is not known");
  }
  if (!set_only_interactively(*entry->assignments)) {
    return detection_finding(Status::pass, facts, *copy.hsa, "HSA_ENABLE_DXG_DETECTION is 1, as this runtime needs it");
  }
  const std::string& file = entry->assignments->front().file;
  Finding finding = detection_finding(Status::warn, facts, *copy.hsa,
                                      "HSA_ENABLE_DXG_DETECTION is 1 here, but only " + file + " sets it");
  finding.cause =
      "Shells that are not interactive leave that file early: an editor, a service or a cron job will not have the "
      "variable and will not see the GPU.";
  finding.confidence = Confidence::likely;
  finding.remedies = {export_in_profile(facts)};
  finding.verify = "env -u HSA_ENABLE_DXG_DETECTION bash -lc 'echo $HSA_ENABLE_DXG_DETECTION'";
  return finding;
}

Finding not_switched_on(const Facts& facts, const Copy& copy, const std::optional<std::string>& value) {
  const HsaCopy& hsa = *copy.hsa;
  const std::string state =
      value ? "HSA_ENABLE_DXG_DETECTION is \"" + *value + "\"" : "HSA_ENABLE_DXG_DETECTION is not set";
  const bool version_told = copy.reach == Reach::opt_in;
  Finding finding = version_told ? detection_finding(Status::fail, facts, hsa,
                                                     state + "; ROCm " + *hsa.rocm_version +
                                                         " uses the GPU of Windows only if it is exactly 1")
                                 : detection_finding(Status::warn, facts, hsa,
                                                     state + " and the version of " + hsa.path +
                                                         " is unknown: ROCm 7.1 to 7.12 needs it to be 1");
  finding.cause =
      "ROCm 7.1 to 7.12 looks for /dev/dxg only if asked to; without it the runtime tries /dev/kfd, which does "
      "not exist under WSL. From 7.13 on no variable is needed.";
  finding.confidence = version_told ? Confidence::certain : Confidence::possible;
  const Variable* entry = facts.environment.find(detection_variable);
  if (!value && entry != nullptr && entry->assignments.known() && !entry->assignments->empty()) {
    finding.cause += set_only_interactively(*entry->assignments)
                         ? " The file that sets it is left early by shells that are not interactive."
                         : " A start-up file sets it, but this process did not get it: log in again.";
  }
  finding.remedies = {export_in_profile(facts)};
  return finding;
}

Finding detection_for(const Facts& facts, const Copy& copy, const std::optional<std::string>& value, bool one_wanted) {
  if (value == "0") return switched_off(facts, copy, one_wanted);
  switch (copy.reach) {
    case Reach::linked_in:
      return detection_finding(Status::pass, facts, *copy.hsa, "the roc4wsl runtime needs no variable");
    case Reach::default_on:
      return detection_finding(Status::pass, facts, *copy.hsa,
                               release(*copy.hsa) + " looks for /dev/dxg without being asked");
    default:
      return value == "1" ? switched_on(facts, copy) : not_switched_on(facts, copy, value);
  }
}

}  // namespace

std::vector<Finding> check_dxg_detection(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  const auto value = facts.environment.get(detection_variable);
  const std::string variable_place = "environment " + std::string(detection_variable);
  if (auto skip = skip_unless_known({{"rocm.hsa", &facts.rocm.hsa}, {variable_place, &value}})) return {*skip};
  std::vector<Finding> findings;
  const std::vector<Copy> copies = classified(*facts.rocm.hsa);
  const bool one_wanted = std::any_of(copies.begin(), copies.end(), wants_detection);
  for (const Copy& copy : copies) {
    if (copy.why_unknown) {
      findings.push_back(*copy.why_unknown);
    } else if (capable(copy)) {
      findings.push_back(detection_for(facts, copy, *value, one_wanted));
    }
  }
  if (findings.empty()) findings.push_back(not_applicable("no runtime here can use /dev/dxg"));
  return findings;
}

}  // namespace sage
