#pragma once

#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

/// Runs `selected` and every prerequisite of it, in the order of `table`, and returns the findings of all of them.
///
/// One root cause is one failure: a check with a failed prerequisite does not speak. If the prerequisite failed as a
/// whole (a failure without subject) the check is one skip with blocked_by; if it failed for some subjects only, just
/// the findings about those subjects become skips. A check that throws becomes an `error` finding: a fault of this
/// tool, not of the machine. blocked_by always names the check at the root of the chain. A check that is out of scope
/// on this machine says so and waits for nothing. For somebody who is root the commands come without sudo.
[[nodiscard]] std::vector<Finding> run_checks(const std::vector<Check>& table,
                                              const std::vector<const Check*>& selected, const CheckInput& input);

}  // namespace sage
