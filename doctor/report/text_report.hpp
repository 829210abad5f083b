#pragma once

#include <cstddef>
#include <string>

#include "doctor/report/report.hpp"

namespace sage {

struct TextStyle {
  std::size_t width = 80;   ///< columns; less than 20 is taken as 20
  bool colour = false;      ///< ANSI colours
  bool only_problems = false;  ///< leave out what passed
  bool skipped = false;     ///< list what was skipped and why
};

/// The report for people: problems first and in full with their remedies (those that differ in their subject alone as
/// one), then one line for each thing that is in
/// order, by topic, last a line that says how much was checked. Control characters from the machine's files never
/// reach the terminal.
[[nodiscard]] std::string text_report(const Report& report, const TextStyle& style);

}  // namespace sage
