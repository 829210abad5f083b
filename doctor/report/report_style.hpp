#pragma once

#include <cstddef>

namespace sage {

/// How a report is wanted and how the run ended. Each format takes of it what it can show.
struct ReportStyle {
  bool only_problems = false;  ///< leave out what is in order
  bool skipped = false;        ///< show what was skipped and why
  bool strict = false;         ///< warnings count as failures
  bool redacted = false;       ///< the report has stand-ins for personal data
  int exit_status = 0;         ///< of the run that is reported
  std::size_t width = 80;      ///< columns of text; less than 20 is taken as 20
  bool colour = false;         ///< ANSI colours in text
};

}  // namespace sage
