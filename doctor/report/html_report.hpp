#pragma once

#include <string>

#include "doctor/report/report.hpp"
#include "doctor/report/report_style.hpp"

namespace sage {

/// The report as one HTML page by templates/report/report.html: problems first and in full, what is in order and what
/// was skipped (open with `skipped`) in <details>, left out with `only_problems`. It refers to nothing outside of
/// itself and has no script.
[[nodiscard]] std::string html_report(const Report& report, const ReportStyle& style);

}  // namespace sage
