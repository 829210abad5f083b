#pragma once

#include <vector>

#include "doctor/diagnose/rules.hpp"
#include "doctor/diagnose/traceback.hpp"
#include "doctor/report/log_summary.hpp"

namespace sage {

/// The rules whose examples are nearest to lines that no rule knows, the best first, at most three: those that share
/// the rarest words with a line, and a good part of the example. Often none.
[[nodiscard]] std::vector<LogGuess> guess(const std::vector<NumberedLine>& lines, const LogRules& rules);

}  // namespace sage
