#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "doctor/checks/as_root.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/log_input.hpp"
#include "doctor/cli/report_output.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/report/report.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/host/live_host.hpp"

namespace sage {
namespace {

int usage_error(const Error& why) {
  spdlog::error("{}", printable(why.text));
  return exit_usage;
}

}  // namespace

int run_diagnose(const DiagnoseOptions& options) {
  // The tables of chips are for checks, and reading them costs more than all the rest.
  const Result<Session> opened = options.log_only ? open_machine(options.machine) : open_session(options.machine);
  if (!opened) return usage_error(opened.error());
  const Session& session = *opened;

  // The log belongs to the user who runs the program, also where a capture is looked at.
  const Result<LogInput> input = open_log(options.log, *make_live_host());
  if (!input) return usage_error(input.error());
  const LogRules rules = embedded_rules_for_logs();
  for (const std::string& problem : rules.problems) spdlog::warn("left out of the rules of this program: {}", problem);
  const Result<LogReading> reading =
      read_log([&](char* into, std::size_t size) { return read_some(*input, into, size); }, rules);
  if (!reading) return usage_error({0, input->name + ": " + reading.error().text});

  Report report;
  report.tool_version = SAGE_VERSION;
  report.time = utc_time(session.host->now());
  report.source = options.log_only ? "none" : session.source;
  std::optional<MachineVerdicts> machine;
  if (!options.log_only) {
    report.facts = collect(session, *session.host, options.report.verbose);
    machine = MachineVerdicts{run_checks(all_checks(), checks_for(reading->messages), {report.facts, session.tables})};
  }
  Diagnosis diagnosis = diagnose(*reading, rules, input->name, machine);
  report.findings = std::move(diagnosis.findings);
  report.log = std::move(diagnosis.summary);
  fit_commands_to_user(report.findings, report.facts.platform);
  ignore_configured(report.findings, session.config, report.time);
  report.summary = summarize(report.findings);

  const int status = report.log->nothing_known() ? exit_unknown : exit_status(report.summary, options.report.strict);
  return write_report(report, options.report, make_redaction(*session.host), status);
}

}  // namespace sage
