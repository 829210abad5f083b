#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// The rows of topic python, in files by idea; python.cpp makes the table of them.
[[nodiscard]] std::vector<Finding> check_torch_present(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_shadowed(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_environment_broken(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_flavour(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_health(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_family(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_runpath(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_system_rocm(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_import_hang(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_amdsmi(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_target(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_torch_kernels(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_triton_conflict(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_triton_libhip(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_triton_parts(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_rocm_sdk_versions(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_rocm_sdk_files(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_sageattention(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_sage_sources(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_attention_packages(const CheckInput& input);

/// The environment that programs get. Where none is known: one of which only the name "python3" is known, enough for the
/// commands of a remedy.
[[nodiscard]] const PythonEnvironment& environment_in_use(const Facts& facts);
/// The torch that `import torch` gets there. Only after skip_without_torch() gave nothing.
[[nodiscard]] const TorchInstall& torch_in_use(const Facts& facts);

/// Without AMD GPU or without any Python there is nothing to say.
[[nodiscard]] std::optional<Finding> skip_without_environment(const Facts& facts);
/// Also when the environment in use has no PyTorch.
[[nodiscard]] std::optional<Finding> skip_without_torch(const Facts& facts);
/// Also when its PyTorch is no ROCm build.
[[nodiscard]] std::optional<Finding> skip_without_rocm_torch(const Facts& facts);

/// A build without a HIP runtime of its own and without SDK wheels. Only with a known family.
[[nodiscard]] bool needs_system_rocm(const TorchInstall& torch);

using WantedPackage = bool (*)(const PythonPackage&);
[[nodiscard]] std::vector<PythonPackage> select_packages(const std::vector<PythonPackage>& packages,
                                                         WantedPackage wanted);
/// The record of each, with name and version.
[[nodiscard]] std::vector<Evidence> package_evidence(const std::vector<PythonPackage>& packages);
/// The names, each once.
[[nodiscard]] std::string names_of(const std::vector<PythonPackage>& packages, std::string_view separator);
/// True for the normalised names of the distributions that install the folder triton.
[[nodiscard]] bool owns_triton(std::string_view name);
/// The distributions beside the torch in use that install the folder triton. Only when the packages are known.
[[nodiscard]] std::vector<PythonPackage> tritons_in_use(const Facts& facts);

/// "/home/u/venv (VIRTUAL_ENV)".
[[nodiscard]] std::string environment_label(const PythonEnvironment& environment);

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
