#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/checks/check.hpp"
#include "doctor/diagnose/matcher.hpp"
#include "doctor/diagnose/rules.hpp"

namespace sage {

/// What the checks found on the machine that a log is held against.
struct MachineVerdicts {
  std::vector<Finding> findings;  ///< of the checks that candidates name, and of what they depend on
};

/// The checks that the candidates of `messages` name.
[[nodiscard]] std::vector<const Check*> checks_for(const std::vector<LogMessage>& messages);

/// What the messages of a log come to: for each the first candidate that the machine confirms, else one that another
/// message has settled, else the first that is open, else a warning that the machine excludes them all. Findings with
/// the same id and subject are one. Consequences are left out where a reason was found. `log` is the log's name in the
/// evidence; without `machine` nothing is confirmed or excluded.
[[nodiscard]] std::vector<Finding> judge(const std::vector<LogMessage>& messages, const LogRules& rules,
                                         const std::string& log, const std::optional<MachineVerdicts>& machine);

}  // namespace sage
