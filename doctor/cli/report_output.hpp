#pragma once

#include "doctor/cli/commands.hpp"
#include "doctor/report/report.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// Writes the report to stdout in the format that was asked for; `status` is the run's and comes back unless writing
/// fails. `redaction` is used where the format and the options call for it.
[[nodiscard]] int write_report(const Report& report, const ReportOptions& options, const Redaction& redaction,
                               int status);

}  // namespace sage
