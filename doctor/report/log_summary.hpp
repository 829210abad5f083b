#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sage {

/// A rule that matched.
struct LogRuleMatch {
  std::string rule;
  std::uint64_t lines = 0;
  std::uint64_t first = 0;  ///< line
};

/// A line that looks like a failure and that no rule knows.
struct UnknownLogLine {
  std::uint64_t line = 0;
  std::string text;
};

/// A known message that a line is near to. Not a finding.
struct LogGuess {
  std::string rule;
  std::string finding;
  std::string example;  ///< of the known message
  std::uint64_t line = 0;
  std::string text;                 ///< that line
  std::vector<std::string> shared;  ///< words
};

/// What was read for a report about a log. All texts are printable and short.
struct LogSummary {
  std::string name;  ///< the file's, or "stdin"
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::string encoding;
  std::uint64_t rules = 0;  ///< that were looked for
  bool machine = false;     ///< a machine was looked at too
  std::vector<LogRuleMatch> matched;
  std::vector<UnknownLogLine> unknown;  ///< where no failure was found
  std::vector<LogGuess> guesses;

  /// Nothing that is known stands in the log.
  [[nodiscard]] bool nothing_known() const { return matched.empty(); }
};

}  // namespace sage
