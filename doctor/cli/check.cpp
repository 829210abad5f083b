#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
#include "doctor/checks/selection.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/report_output.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/report/report.hpp"

namespace sage {
int run_check(const CheckOptions& options) {
  const auto selected = select_checks(all_checks(), options.only, options.skip);
  if (!selected) {
    spdlog::error("{}", selected.error().text);
    return exit_usage;
  }
  const Result<Session> opened = open_session(options.machine);
  if (!opened) {
    spdlog::error("{}", opened.error().text);
    return exit_usage;
  }
  const Session& session = *opened;

  Report report;
  report.tool_version = SAGE_VERSION;
  report.time = utc_time(session.host->now());
  report.source = session.source;
  report.facts = collect(session, *session.host, options.report.verbose);
  report.findings = run_checks(all_checks(), *selected, {report.facts, session.tables});
  ignore_configured(report.findings, session.config, report.time);
  report.summary = summarize(report.findings);

  const int status = exit_status(report.summary, options.report.strict);
  return write_report(report, options.report, make_redaction(*session.host), status);
}

}  // namespace sage
