#pragma once

#include <string>

#include "doctor/report/report.hpp"
#include "doctor/report/report_style.hpp"

namespace sage {

/// The report for people: problems first and in full with their remedies (those that differ in their subject alone as
/// one), then one line for each thing that is in order, by topic, last a line that says how much was checked. Control
/// characters from the machine's files never reach the terminal.
[[nodiscard]] std::string text_report(const Report& report, const ReportStyle& style);

}  // namespace sage
