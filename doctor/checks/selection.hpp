#pragma once

#include <string>
#include <vector>

#include "doctor/checks/check.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// The checks that match any of `only` (all when it is empty) and none of `skip`, in the order of the table. Patterns
/// are shell globs over the id ("wsl.*"), or the name of a topic ("wsl"). A pattern that matches no check at all is an
/// Error that suggests the nearest id.
[[nodiscard]] Result<std::vector<const Check*>> select_checks(const std::vector<Check>& table,
                                                              const std::vector<std::string>& only,
                                                              const std::vector<std::string>& skip);

}  // namespace sage
