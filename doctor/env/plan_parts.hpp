#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"
#include "doctor/env/env_plan.hpp"

namespace sage {

// What plan_environment() is put together from, a file an idea. Each returns settings as they should be; values of the
// user's own are looked at afterwards.

// plan_toolchain.cpp
/// For a compiler with a ROCm tree around it.
[[nodiscard]] std::vector<EnvSetting> toolchain_settings(const CheckInput& input, const Toolchain& toolchain,
                                                         const std::vector<std::string>& targets);

// plan_runtime.cpp
/// For programs that run: the way to Windows, the libraries that the loader would miss, the copy that Triton takes.
[[nodiscard]] std::vector<EnvSetting> runtime_settings(const Facts& facts);

/// True when something here can run HIP programs: a runtime library or a PyTorch for ROCm.
[[nodiscard]] bool has_runtime(const Facts& facts);

// plan_common.cpp
/// A folder in which every system looks anyway, and which must never be put in front of others: /usr/bin before an
/// activated environment would exchange its python3.
[[nodiscard]] bool is_system_folder(std::string_view folder);

/// The targets to build for: those of the GPUs that programs see, without integrated ones beside a discrete one. Empty
/// while a target is unknown.
[[nodiscard]] std::vector<std::string> build_targets(const Facts& facts);

/// The PyTorch for ROCm that `import torch` gets in the environment in use; nullptr: there is none, or it is not known.
[[nodiscard]] const TorchInstall* rocm_torch(const Facts& facts);

[[nodiscard]] EnvSetting set_to(std::string variable, std::string value, std::string why);
[[nodiscard]] EnvSetting put_in_front(std::string variable, std::vector<std::string> folders, std::string why);

}  // namespace sage
