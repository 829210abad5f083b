#pragma once

#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// One function a topic, in the file of the topic; each returns its rows of the table.
[[nodiscard]] std::vector<Check> platform_checks();
[[nodiscard]] std::vector<Check> gpu_checks();
[[nodiscard]] std::vector<Check> wsl_checks();
[[nodiscard]] std::vector<Check> driver_checks();
[[nodiscard]] std::vector<Check> device_checks();
[[nodiscard]] std::vector<Check> environment_checks();
[[nodiscard]] std::vector<Check> python_checks();
[[nodiscard]] std::vector<Check> library_checks();
[[nodiscard]] std::vector<Check> toolchain_checks();
[[nodiscard]] std::vector<Check> build_checks();
[[nodiscard]] std::vector<Check> proof_checks();

/// Every check, prerequisites before those that depend on them.
[[nodiscard]] const std::vector<Check>& all_checks();

[[nodiscard]] const Check* find_check(std::string_view id);

}  // namespace sage
