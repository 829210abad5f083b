#pragma once

#include <optional>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

/// True where programs reach the GPU through /dev/dxg and no amdgpu driver exists (facts/wsl.md 2.6).
[[nodiscard]] bool uses_dxg(PlatformKind kind);

/// True when it is known that this process runs in a container.
[[nodiscard]] bool in_container(const Facts& facts);

/// For every check that is about an AMD GPU: a skip when there is none, or when it is unknown whether there is one.
[[nodiscard]] std::optional<Finding> skip_without_gpu(const Facts& facts);

/// For checks of the amdgpu driver and its device nodes: skip_without_gpu(), and a skip where that driver plays no
/// part.
[[nodiscard]] std::optional<Finding> skip_without_amdgpu(const Facts& facts);

/// A judgement of one GPU; the finding's subject is set by the caller.
using JudgeGpu = Finding (*)(const CheckInput&, const Gpu&);

/// One finding per GPU with the GPU's id as subject, or the single skip of skip_without_amdgpu().
[[nodiscard]] std::vector<Finding> judge_each_gpu(const CheckInput& input, JudgeGpu judge);

/// True when a GPU other than `gpu` is known to be driven by amdgpu and listed by KFD.
[[nodiscard]] bool another_gpu_works(const Facts& facts, const Gpu& gpu);

}  // namespace sage
