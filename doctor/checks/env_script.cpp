// Scripts of `sage-doctor env` in use. The one that was sourced left its mark in SAGE_DOCTOR_ENV: the facts that it was
// made from. And it keeps values of the user's own, which may stand against what it would set.

#include <algorithm>
#include <array>
#include <optional>

#include "doctor/checks/environment_rows.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/env/fingerprint.hpp"
#include "doctor/env/plan.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

Remedy make_it_anew() {
  return {"Make the script anew where it lies, and source it again; the settings of the old one are taken back.",
          {"sage-doctor env -o env_amd.sh && . ./env_amd.sh"},
          {}};
}

/// What a plan may set and no other row judges.
constexpr auto judged_here = std::to_array<std::string_view>(
    {"HIP_DEVICE_LIB_PATH", "HIP_PATH", "MAX_JOBS", "ROCM_HOME", "ROCM_PATH", "TRITON_LIBHIP_PATH"});

/// The names of those that have one.
std::vector<std::string> own_values(const Facts& facts) {
  std::vector<std::string> names;
  for (const std::string_view name : judged_here) {
    const auto value = facts.environment.get(name);
    if (value.known() && value->has_value() && !(*value)->empty()) names.emplace_back(name);
  }
  return names;
}

/// Each of these variables has the value that the plan would give it. That is a pass: an unknown fact takes settings off
/// a plan and so can't bring it about.
bool all_as_planned(const Facts& facts, const EnvPlan& plan, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto own = facts.environment.get(name);
    return std::any_of(plan.settings.begin(), plan.settings.end(), [&](const EnvSetting& setting) {
      return setting.variable == name && setting.values.front() == **own;
    });
  });
}

/// The user lets fewer compiler jobs run than memory has room for.
bool modest(const EnvSetting& setting) {
  const auto own = parse_number(*setting.kept);
  const auto planned = parse_number(setting.values.front());
  return setting.variable == "MAX_JOBS" && own && planned && *own <= *planned;
}

/// Variables whose values other rows judge, with better words.
bool judged_elsewhere(const Facts& facts, const EnvSetting& setting) {
  if (setting.variable == "PYTORCH_ROCM_ARCH" || setting.variable == "HSA_ENABLE_DXG_DETECTION") return true;
  for (const NamedPath& named : facts.environment.named_paths.value_or({})) {
    if (named.variable != setting.variable || named.path != *setting.kept) continue;
    // One that leads to the planned folder says the same; one that leads nowhere has a row of its own.
    return !named.exists.is(true) || (setting.values.size() == 1 && named.canonical.is(setting.values.front()));
  }
  return false;
}

/// Another whole ROCm: a choice that one may make.
bool names_a_root(const Facts& facts, const std::string& folder) {
  const std::vector<RocmRoot> roots = facts.rocm.roots.value_or({});
  return std::any_of(roots.begin(), roots.end(), [&](const RocmRoot& root) { return root.path == folder; });
}

Finding clash(const Facts& facts, const EnvSetting& setting) {
  const std::string observed = setting.variable + "=" + *setting.kept + " is your own; sage-doctor env would set " +
                               join(setting.values, ":") + " and leaves it alone";
  Finding finding = names_a_root(facts, *setting.kept) ? info(observed, setting.variable) : warn(observed, setting.variable);
  if (const Variable* variable = facts.environment.find(setting.variable)) finding.evidence = variable_evidence(*variable);
  finding.evidence.push_back({"sage-doctor env", setting.variable + "=" + join(setting.values, ":")});
  if (finding.status == Status::info) return finding;
  finding.cause = setting.why;
  finding.confidence = Confidence::likely;
  finding.remedies = {unset_remedy({facts.environment.find(setting.variable)}),
                      {"Have the script replace it.", {"sage-doctor env --force -o env_amd.sh"}, {}}};
  finding.verify = "echo \"$" + setting.variable + "\"";
  return finding;
}

}  // namespace

std::vector<Finding> check_script_stale(const CheckInput& input) {
  const Facts& facts = input.facts;
  const auto mark = facts.environment.get(mark_variable);
  if (auto skip = skip_unless_known({{"environment.SAGE_DOCTOR_ENV", &mark}})) return {*skip};
  if (!mark->has_value() || (*mark)->empty()) return {pass("no script of sage-doctor env is active")};

  const Result<MarkComparison> result = compare_mark(**mark, facts);
  if (!result) {
    Finding finding = warn("SAGE_DOCTOR_ENV is set, but not by this sage-doctor");
    finding.evidence = {{"SAGE_DOCTOR_ENV", **mark}};
    finding.cause = "The script comes from another version of sage-doctor, or somebody else uses the name.";
    finding.confidence = Confidence::likely;
    finding.remedies = {make_it_anew()};
    finding.verify = "sage-doctor env --check env_amd.sh";
    return {finding};
  }
  if (!result->drifts.empty()) {
    Finding finding = warn("the active script of sage-doctor env is stale: " + drift_in_words(result->drifts.front()));
    for (std::size_t i = 1; i < result->drifts.size(); ++i) {
      finding.evidence.push_back({"since then", drift_in_words(result->drifts[i])});
    }
    finding.evidence.push_back({"SAGE_DOCTOR_ENV", **mark});
    finding.cause = "It was made for what was there at the time; its folders and targets may be wrong now.";
    finding.remedies = {make_it_anew()};
    finding.verify = "sage-doctor env --check env_amd.sh";
    return {finding};
  }
  if (!result->unknown.empty()) return {make_finding(Status::skip, "unknown: " + result->unknown.front())};
  return {pass("the active script of sage-doctor env was made for what is here")};
}

std::vector<Finding> check_script_clash(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_gpu(facts)) return {*skip};
  const Finding none = not_applicable("no value of your own stands against what sage-doctor env sets");
  const std::vector<std::string> own = own_values(facts);
  if (own.empty()) return {none};
  const Result<EnvPlan> plan = plan_environment(input, {});
  if (!plan) return {not_applicable("there is nothing that sage-doctor env could set up")};
  std::vector<Finding> findings;
  for (const EnvSetting& setting : plan->settings) {
    if (setting.kept && !modest(setting) && !judged_elsewhere(facts, setting)) findings.push_back(clash(facts, setting));
  }
  if (!findings.empty()) return findings;
  if (!all_as_planned(facts, *plan, own)) return {none};
  return {pass(join(own, ", ") + (own.size() == 1 ? " is" : " are") + " set as sage-doctor env would set " +
               (own.size() == 1 ? "it" : "them"))};
}

}  // namespace sage
