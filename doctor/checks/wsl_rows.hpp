#pragma once

#include <vector>

#include "doctor/checks/check.hpp"

// The check functions of topic wsl that have a file of their own; the table is in wsl.cpp.

namespace sage {

[[nodiscard]] std::vector<Finding> check_gpu_allowlist(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_dxcore(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_wsl_conf(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_wsl_runtime(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_distro_rocm(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_dxg_detection(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_rocdxg(const CheckInput& input);

}  // namespace sage
