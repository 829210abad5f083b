#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/build/advice.hpp"
#include "doctor/build/build.hpp"
#include "doctor/build/install/store.hpp"
#include "doctor/build/python_package.hpp"
#include "doctor/build/summary.hpp"
#include "doctor/checks/build_jobs.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
#include "doctor/cli/build_progress.hpp"
#include "doctor/cli/build_session.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/env/fingerprint.hpp"

namespace sage {
namespace {

/// As a shell's 128 + SIGINT.
constexpr int interrupted_status = 130;

int refuse(const std::vector<NoPlan>& problems) {
  int status = 1;
  for (const NoPlan& problem : problems) {
    spdlog::error("{}", problem.reason);
    for (const std::string& advice : problem.advice) spdlog::error("  {}", advice);
    status = std::max(status, problem.status);
  }
  return status;
}

int print_commands(const BuildPlan& plan, const std::string& prefix) {
  std::string text;
  for (const std::string& line : build_commands(plan, prefix)) text += line + "\n";
  return write_product(text, 0);
}

int clean(const std::string& prefix) {
  const Result<Store> store = Store::open(prefix, 0);
  if (!store) {
    spdlog::error("{}", store.error().text);
    return exit_usage;
  }
  const Result<StoreLock> lock = store->lock([](const std::string&) { return true; });
  if (!lock) {
    spdlog::error("{}", lock.error().text);
    return exit_usage;
  }
  const Result<std::vector<std::string>> removed = store->clean(*lock, Store::Clean::keep_current);
  if (!removed) {
    spdlog::error("{}", removed.error().text);
    return 1;
  }
  std::string text = removed->empty() ? "nothing to remove\n" : "";
  for (const std::string& name : *removed) text += "removed " + prefix + "/" + name + "\n";
  return write_product(text, 0);
}

/// The failures of `check` that keep a GPU from being used.
std::vector<Finding> gpu_findings(const Facts& facts, const GfxTables& tables) {
  std::vector<const Check*> all;
  for (const Check& check : all_checks()) all.push_back(&check);
  std::vector<Finding> failures;
  for (Finding& finding : run_checks(all_checks(), all, {facts, tables})) {
    const bool about_gpu = finding.topic != Topic::python && finding.topic != Topic::toolchain;
    if (about_gpu && finding.status == Status::fail) failures.push_back(std::move(finding));
  }
  return failures;
}

/// The ROCm tree of the compiler that comes first; empty: a compiler without one.
std::string root_of(const BuildPlan& plan) {
  const auto& compilers = plan.targets.front().compilers;
  return compilers.empty() ? "" : compilers.front().compiler->root.value_or("");
}

std::vector<std::string> targets_of(const BuildPlan& plan) {
  std::vector<std::string> targets;
  for (const TargetPlan& one : plan.targets) targets.push_back(one.target);
  return targets;
}

/// A failure there makes the build a failed one, but the installation of the prefix stays.
void install_for_python(const std::string& site, BuildOutcome& outcome) {
  const bool there = outcome.state == BuildOutcome::State::installed || outcome.state == BuildOutcome::State::up_to_date;
  if (!there) return;
  const Result<WheelInstalled> wheel = install_package(site, outcome.folder, outcome.manifest);
  if (wheel) {
    outcome.notes.push_back("for Python: " + wheel->package + "; pip uninstall " + std::string(wheel_distribution) + " removes it");
    return;
  }
  outcome.problems.push_back("installed in " + outcome.folder + ", but not for Python: " + wheel.error().text);
  outcome.state = BuildOutcome::State::failed;
}

int status_of(const BuildOutcome& outcome) {
  switch (outcome.state) {
    case BuildOutcome::State::installed:
    case BuildOutcome::State::up_to_date: return 0;
    case BuildOutcome::State::interrupted: return interrupted_status;
    case BuildOutcome::State::failed: break;
  }
  return 1;
}

}  // namespace

int run_build(const BuildOptions& options) {
  const Result<BuildSession> opened = open_build_session(options.machine, options.prefix);
  if (!opened) {
    spdlog::error("{}", opened.error().text);
    return exit_usage;
  }
  const Session& session = opened->session;
  const std::string& prefix = opened->prefix;
  if (options.clean) return clean(prefix);
  const Facts facts = collect(session, *session.host, options.verbose);
  const BuildPlanning planning = make_build_plan(facts, session.tables, {options.targets, options.toolchain});
  if (!planning.problems.empty()) return refuse(planning.problems);
  const BuildPlan& plan = planning.plan;
  if (options.dry_run) return print_commands(plan, prefix);
  if (!options.machine.capture.empty()) {
    spdlog::error("a captured machine can't build: add --dry-run to see the commands");
    return exit_usage;
  }

  Result<std::string> site = Error{};
  if (options.install) {
    site = site_for_package(facts, targets_of(plan));
    if (!site) {
      spdlog::error("{}", site.error().text);
      return 1;
    }
  }

  BuildSettings settings;
  settings.prefix = prefix;
  settings.tool_version = SAGE_VERSION;
  settings.time = utc_time(session.host->now());
  settings.mark = make_mark(facts, root_of(plan), !options.machine.python.empty());
  settings.parallel = options.jobs > 0 ? options.jobs : fitting_build_jobs(facts.platform, memory_per_kernel_job).value_or(1);
  settings.on_failure = options.keep_going ? OnFailure::keep_going : OnFailure::stop;
  settings.require_gpu = options.require_gpu;
  BuildOutcome outcome = [&] {
    const std::unique_ptr<BuildProgress> progress = make_build_progress(options.verbose);
    return build(plan, settings, *session.host, session.tables, *progress);
  }();
  if (options.install) install_for_python(*site, outcome);
  BuildHints hints;
  if (outcome.gpu_failed) hints.findings = gpu_findings(facts, session.tables);
  hints.advice = build_advice(outcome, facts, session.tables);
  const int status = status_of(outcome);
  if (options.json) {
    return write_product(build_json(outcome, hints, options.redact ? make_redaction(*session.host) : Redaction()), status);
  }
  return write_product(build_text(outcome, hints, output_width()), status);
}

}  // namespace sage
