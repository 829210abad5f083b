#pragma once

#include <string>

#include "doctor/report/report.hpp"
#include "doctor/report/report_style.hpp"

namespace sage {

/// The report as GitHub's Markdown, to be pasted into an issue: a table of problems, each with its remedy, and what is
/// in order and skipped in <details> (open with `skipped`, left out with `only_problems`). Never longer than what
/// GitHub takes: what does not fit is left out, and that is said.
[[nodiscard]] std::string markdown_report(const Report& report, const ReportStyle& style);

}  // namespace sage
