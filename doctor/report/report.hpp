#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "doctor/checks/finding.hpp"
#include "doctor/report/log_summary.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

struct Summary {
  std::size_t pass = 0;
  std::size_t warn = 0;
  std::size_t fail = 0;
  std::size_t skip = 0;
  std::size_t error = 0;
  std::size_t info = 0;
  std::size_t suppressed = 0;  ///< findings ignored by the configuration; not counted above
  std::size_t checks = 0;      ///< checks that came to a verdict on at least one subject
  std::size_t checks_skipped = 0;  ///< checks that came to none
};

/// One run of `check` or `diagnose`: everything that any renderer needs. Renderers only write it down.
struct Report {
  std::string tool_version;
  std::string time;     ///< UTC, "2026-11-30T19:20:52Z"
  std::string source;   ///< "live", the name of the capture, or "none" where only a log was looked at
  Facts facts;
  std::vector<Finding> findings;
  Summary summary;
  std::optional<LogSummary> log;  ///< of `diagnose`
};

[[nodiscard]] Summary summarize(const std::vector<Finding>& findings);

/// Exit status of a finished check: 1 with any failure (with `strict`, any warning too), 2 with an error of our own
/// and no failure, else 0. Suppressed findings do not count.
[[nodiscard]] int exit_status(const Summary& summary, bool strict);

}  // namespace sage
