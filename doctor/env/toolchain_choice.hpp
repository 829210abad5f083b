#pragma once

#include <string>

#include "doctor/checks/check.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// What the user said about the compiler; empty: nothing.
struct ToolchainWish {
  std::string toolchain;  ///< a path, or a kind: "hipcc", "amdclang++", "clang++"
  std::string canonical;  ///< where the path leads
  std::string root;       ///< the folder that it belongs to, canonical
};

struct ToolchainChoice {
  const Toolchain* compiler = nullptr;  ///< into the facts; nullptr: there is none that builds for the GPU
  std::string caution;                  ///< a sentence about what it can't do, or why there is none; empty: all is well
};

/// The program to build with for `target`, by the verdicts of doctor/toolchain: extensions of PyTorch where there is a
/// PyTorch for ROCm, else HIP programs, else kernels. Without a target (no GPU) the most complete one. What the user
/// named is taken even if it can't build for the target. The Error: nothing here is what the user named; it lists what
/// there is.
[[nodiscard]] Result<ToolchainChoice> choose_toolchain(const CheckInput& input, const ToolchainWish& wish,
                                                       const std::string& target);

/// True for a compiler with HIP headers and device libraries in a tree of its own.
[[nodiscard]] bool is_compiler_root(const Toolchain& toolchain);

}  // namespace sage
