#pragma once

#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// What amdgpu makes of each GPU: rows of driver_checks(), one finding per GPU.
[[nodiscard]] std::vector<Finding> check_firmware(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_gpu_unbound(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_kfd_node(const CheckInput& input);

}  // namespace sage
