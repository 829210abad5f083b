#pragma once

#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

/// The rows of topic wsl about libhsa-runtime64 and its bridge librocdxg.
[[nodiscard]] std::vector<Check> wsl_runtime_checks();

}  // namespace sage
