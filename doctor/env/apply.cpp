// Nothing is printed that was not tried. The environment of the plan is put before the probes, which look at the
// machine again through it: what the loader would take, what PyTorch would choose, what the checks then say. That costs
// a second run of probes that read files, a fraction of a second, and spares a model of how variables and facts hang
// together.

#include "doctor/env/apply.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
#include "doctor/env/environment_host.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

std::string label(const Finding& finding) {
  return finding.subject.empty() ? finding.id : finding.id + " (" + finding.subject + ")";
}

using ByLabel = std::map<std::string, const Finding*>;

ByLabel by_label(const std::vector<Finding>& findings) {
  ByLabel result;
  for (const Finding& finding : findings) result[label(finding)] = &finding;
  return result;
}

bool complains(const Finding& finding) {
  return finding.status == Status::fail || finding.status == Status::warn;
}

/// Checks that had to wait for another, for some subject at least.
std::set<std::string> waiting(const std::vector<Finding>& findings) {
  std::set<std::string> ids;
  for (const Finding& finding : findings) {
    if (!finding.blocked_by.empty()) ids.insert(finding.id);
  }
  return ids;
}

/// Processes that would get more than one libamdhip64, by "scenario subject".
std::map<std::string, std::size_t> hip_copies(const Facts& facts) {
  std::map<std::string, std::size_t> counts;
  for (const LoadPrediction& one : facts.libraries.predictions.value_or({})) {
    std::set<std::string> paths;
    for (const LoadedCopy& copy : one.copies.value_or({})) {
      if (copy.library.is(RuntimeLibrary::amdhip64)) paths.insert(copy.path);
    }
    const std::string scenario(one.scenario.known() ? enum_name(*one.scenario) : "?");
    counts[scenario + " " + one.subject] = paths.size();
  }
  return counts;
}

EnvPlan without(const EnvPlan& plan, std::size_t index) {
  EnvPlan less = plan;
  less.notes.push_back("Left out: " + plan.settings[index].variable + "=" + join(plan.settings[index].values, ":") +
                       ", which would make something else fail.");
  less.settings.erase(less.settings.begin() + static_cast<std::ptrdiff_t>(index));
  return less;
}

}  // namespace

Judgement judge_environment(const Host& host, const EnvironmentValues& values, const GfxTables& tables,
                            const ProbeOptions& options) {
  const EnvironmentHost seen(host, values);
  Judgement result;
  result.facts = collect_facts(seen, tables, options);
  std::vector<const Check*> every;
  for (const Check& check : all_checks()) every.push_back(&check);
  result.findings = run_checks(all_checks(), every, {result.facts, tables});
  return result;
}

std::vector<std::string> made_worse(const Judgement& before, const Judgement& after) {
  const ByLabel old = by_label(before.findings);
  const std::set<std::string> waited = waiting(before.findings);
  std::vector<std::string> worse;
  for (const Finding& finding : after.findings) {
    if (finding.status != Status::fail || waited.contains(finding.id)) continue;
    const auto same = old.find(label(finding));
    if (same == old.end() || same->second->status != Status::fail) worse.push_back(label(finding));
  }
  const auto copies_before = hip_copies(before.facts);
  for (const auto& [process, copies] : hip_copies(after.facts)) {
    const auto same = copies_before.find(process);
    const std::size_t allowed = std::max<std::size_t>(same == copies_before.end() ? 1 : same->second, 1);
    if (copies > allowed) worse.push_back("a second libamdhip64 (" + process + ")");
  }
  return worse;
}

std::vector<std::string> mended_by(const Judgement& before, const Judgement& after) {
  const ByLabel now = by_label(after.findings);
  std::vector<std::string> mended;
  for (const Finding& finding : before.findings) {
    if (!complains(finding)) continue;
    const auto same = now.find(label(finding));
    const Status status = same == now.end() ? Status::pass : same->second->status;
    if (status == Status::pass || status == Status::info) mended.push_back(label(finding));
  }
  return mended;
}

Result<TriedPlan> plan_and_try(const Host& host, const GfxTables& tables, const ProbeOptions& options,
                               const EnvRequest& request) {
  TriedPlan result;
  result.values = deactivated(host.environment());
  const Judgement before = judge_environment(host, result.values, tables, options);
  Result<EnvPlan> planned = plan_environment({before.facts, tables}, request);
  if (!planned) return planned.error();

  const auto tried = [&](const EnvPlan& plan) {
    return judge_environment(host, activated(result.values, plan), tables, options);
  };
  EnvPlan plan = *std::move(planned);
  Judgement after = tried(plan);
  std::vector<std::string> worse = made_worse(before, after);
  if (!worse.empty() && !request.override_gfx.empty() && !request.force) {
    return Error{0, "HSA_OVERRIDE_GFX_VERSION=" + request.override_gfx + " would make " + join(worse, ", ") +
                        " fail; --force does it all the same"};
  }
  // One setting at a time is left out, the one that helps most first; what the user insists on stays.
  while (!worse.empty() && !plan.settings.empty() && request.override_gfx.empty()) {
    std::size_t best = 0;
    std::size_t fewest = worse.size() + 1;
    for (std::size_t i = 0; i < plan.settings.size(); ++i) {
      const std::size_t left = made_worse(before, tried(without(plan, i))).size();
      if (left < fewest) {
        fewest = left;
        best = i;
      }
    }
    plan = without(plan, best);
    after = tried(plan);
    worse = made_worse(before, after);
  }
  plan.mended = mended_by(before, after);
  result.plan = std::move(plan);
  return result;
}

}  // namespace sage
