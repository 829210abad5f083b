#pragma once

#include <cstddef>
#include <string>

#include "doctor/report/log_summary.hpp"

namespace sage {

/// The lines that no rule knows and the guesses, for people; empty where there are none. Ends with an empty line.
[[nodiscard]] std::string unknown_part_text(const LogSummary& log, std::size_t width);

/// "12,345 lines, 3.1 MiB, 96 rules"
[[nodiscard]] std::string extent_text(const LogSummary& log);

}  // namespace sage
