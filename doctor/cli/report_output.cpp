#include "doctor/cli/report_output.hpp"

#include "doctor/cli/output.hpp"
#include "doctor/report/format.hpp"
#include "doctor/report/redacted_report.hpp"

namespace sage {

int write_report(const Report& report, const ReportOptions& options, const Redaction& redaction, int status) {
  ReportStyle style;
  style.only_problems = options.quiet;
  style.skipped = options.verbose;
  style.strict = options.strict;
  style.redacted = options.redact && options.format != ReportFormat::text;
  style.exit_status = status;
  style.width = output_width();
  style.colour = output_colour(options.colour);
  const Report shown = style.redacted ? redacted(report, redaction) : report;
  return write_product(formatted(shown, options.format, style), status);
}

}  // namespace sage
