#pragma once

#include <string>

#include "doctor/report/report.hpp"
#include "doctor/report/report_style.hpp"

namespace sage {

/// The report as SARIF 2.1.0: a rule for each check with its page, a result for each finding. Failures and warnings are
/// of kind "fail"; what passed, only tells, does not apply or is not known has a kind of its own and level "none". A
/// check that broke is "open", and a notification of the run. What the configuration ignores is suppressed. With
/// `only_problems` the rest stays out.
[[nodiscard]] std::string sarif_report(const Report& report, const ReportStyle& style);

}  // namespace sage
