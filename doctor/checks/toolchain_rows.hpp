#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// The rows of topic toolchain, in files by idea; toolchain.cpp makes the table of them.
[[nodiscard]] std::vector<Finding> check_none_for_target(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_rocm_home(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_extension_headers(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_stray_cuda(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_poisoned(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_trampoline_shadows(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_build_tools(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_cxx_headers(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_headers(const CheckInput& input);

/// A skip without AMD GPU, or when the compilers or the kind of one of them are unknown.
[[nodiscard]] std::optional<Finding> skip_without_compilers(const Facts& facts);

/// How to get the smallest thing that builds freestanding kernels for the target: a clang of the distribution, with no
/// ROCm around it.
[[nodiscard]] std::vector<Remedy> compiler_remedies(const CheckInput& input, const std::string& target);

/// "hipcc of ROCm 7.2.0", "clang++ 19.1.7".
[[nodiscard]] std::string compiler_label(const Toolchain& compiler);

/// What the PyTorch in use takes for ROCM_HOME; nullptr when it was not looked for. Only after
/// skip_without_rocm_torch() gave nothing.
[[nodiscard]] const TorchRocmHome* rocm_home_in_use(const Facts& facts);

/// The SDK package "_rocm_sdk_devel", when it is expanded, else "_rocm_sdk_core" of the environment in use; empty: none.
[[nodiscard]] std::string sdk_root_in_use(const Facts& facts);

}  // namespace sage
