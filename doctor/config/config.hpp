#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/finding.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// One [ignore."id"] table: findings of this id are shown and counted apart, and never make the exit status.
struct IgnoreRule {
  std::string id;
  std::string reason;
  std::optional<std::string> until;  ///< "2027-01-31": the last day on which the rule holds
};

/// sage-doctor.toml.
struct Config {
  std::vector<std::string> search_paths;  ///< further folders to look for ROCm in
  std::string target;                     ///< gfx target to take for every GPU; empty: none
  std::string tables;                     ///< a TOML file with further rows for the gfx tables; empty: none
  std::vector<IgnoreRule> ignore;
};

/// Reads the text of a configuration file. Errors read "FILE:LINE: what is wrong" and suggest the nearest right key.
/// `known_ids` are the check ids that [ignore] may name.
[[nodiscard]] Result<Config> parse_config(const std::string& text, const std::string& file,
                                          const std::vector<std::string_view>& known_ids);

/// Marks the findings that a rule covers as suppressed. A rule whose day has passed covers nothing. `today` is
/// "YYYY-MM-DD" in UTC. Returns the rules that have run out, so that the user can be told.
[[nodiscard]] std::vector<IgnoreRule> suppress(std::vector<Finding>& findings, const std::vector<IgnoreRule>& rules,
                                               const std::string& today);

}  // namespace sage
