#pragma once

#include <string>

#include "doctor/report/report.hpp"
#include "doctor/report/report_style.hpp"

namespace sage {

/// The report as JUnit XML: a test suite for each topic, a test case for each check and subject. A failure is a failure
/// (with `strict`, a warning too), a check that broke an error; what was skipped or is ignored is skipped with the
/// reason. What a passing case observed, and a warning in full, is its output. It is whole also with `only_problems`.
[[nodiscard]] std::string junit_report(const Report& report, const ReportStyle& style);

}  // namespace sage
