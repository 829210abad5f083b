#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// The rows of topic python, in three files by idea; python.cpp makes the table of them.
[[nodiscard]] std::vector<Finding> check_torch_present(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_shadowed(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_environment_broken(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_flavour(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_health(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_target(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_triton_conflict(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_rocm_sdk_versions(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_sageattention(const CheckInput& input);

/// The environment that programs get. Only after skip_without_environment() gave nothing.
[[nodiscard]] const PythonEnvironment& environment_in_use(const Facts& facts);
/// The torch that `import torch` gets there. Only after skip_without_torch() gave nothing.
[[nodiscard]] const TorchInstall& torch_in_use(const Facts& facts);

/// Without AMD GPU or without any Python there is nothing to say.
[[nodiscard]] std::optional<Finding> skip_without_environment(const Facts& facts);
/// Also when the environment in use has no PyTorch.
[[nodiscard]] std::optional<Finding> skip_without_torch(const Facts& facts);
/// Also when its PyTorch is no ROCm build.
[[nodiscard]] std::optional<Finding> skip_without_rocm_torch(const Facts& facts);

/// "/home/u/venv (VIRTUAL_ENV)".
[[nodiscard]] std::string environment_label(const PythonEnvironment& environment);

/// The folder that holds a package or dist-info folder.
[[nodiscard]] std::string site_of(const std::string& path);

/// "/home/u/venv/bin/python3 -m pip install", or uv's words for it: environments made by uv have no pip.
[[nodiscard]] std::string pip_install(const PythonEnvironment& environment);
[[nodiscard]] std::string pip_uninstall(const PythonEnvironment& environment);

/// True when the first torch lies in PYTHONPATH or the user's own site-packages and hides another one. Only when the
/// site of every torch is known.
[[nodiscard]] bool torch_is_shadowed(const PythonEnvironment& environment);
/// How to get at the hidden one.
[[nodiscard]] Remedy unshadow_remedy(const Facts& facts);

/// How to get a ROCm build of PyTorch for this machine's GPU into the environment in use.
[[nodiscard]] Remedy install_rocm_torch(const CheckInput& input);

/// Shows in the environment in use which torch is imported and what it was built for.
[[nodiscard]] std::string show_torch_command(const PythonEnvironment& environment);

}  // namespace sage
