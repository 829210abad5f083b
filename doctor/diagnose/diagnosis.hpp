#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/diagnose/judge.hpp"
#include "doctor/diagnose/log_reader.hpp"
#include "doctor/diagnose/matcher.hpp"
#include "doctor/diagnose/rules.hpp"
#include "doctor/report/log_summary.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// What stands in a log, before anything is said about it.
struct LogReading {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  TextEncoding encoding = TextEncoding::utf8;
  std::vector<LogMessage> messages;   ///< point into the rules
  std::vector<NumberedLine> unknown;  ///< lines that look like a failure and that no rule knows
  bool unknown_suspect = false;       ///< they do look like one; else they are just the first lines
};

/// Reads a log to its end. The Error says what to do: reading failed, it is empty, or it is a compressed file.
[[nodiscard]] Result<LogReading> read_log(LogSource source, const LogRules& rules);

struct Diagnosis {
  std::vector<Finding> findings;
  LogSummary summary;
};

/// `name` is the log's in evidence.
[[nodiscard]] Diagnosis diagnose(const LogReading& reading, const LogRules& rules, const std::string& name,
                                 const std::optional<MachineVerdicts>& machine);

}  // namespace sage
