#pragma once

#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// Rows of environment_checks(), by the file that judges them.

// env_override.cpp
[[nodiscard]] std::vector<Finding> check_override_empty(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_override_format(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_override_mismatch(const CheckInput& input);

// env_visible.cpp
[[nodiscard]] std::vector<Finding> check_visible_devices(const CheckInput& input);

// env_paths.cpp
[[nodiscard]] std::vector<Finding> check_rocm_paths(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_library_path(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_preload(const CheckInput& input);

// env_script.cpp
[[nodiscard]] std::vector<Finding> check_script_stale(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_script_clash(const CheckInput& input);

// env_interactive.cpp
[[nodiscard]] std::vector<Finding> check_interactive_only(const CheckInput& input);

}  // namespace sage
