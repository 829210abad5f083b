#pragma once

#include <string>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// What the user said about the compiler; empty: nothing.
struct ToolchainWish {
  std::string toolchain;  ///< a path, or a kind: "hipcc", "amdclang++", "clang++"
  std::string root;       ///< the folder that it belongs to
};

/// The program to build with for these targets; nullptr where there is none. The Error: nothing here is what the user
/// asked for; it lists what there is.
[[nodiscard]] Result<const Toolchain*> choose_toolchain(const Facts& facts, const ToolchainWish& wish,
                                                        const std::vector<std::string>& targets);

/// True for a compiler with HIP headers and device libraries in a tree of its own.
[[nodiscard]] bool is_compiler_root(const Toolchain& toolchain);

}  // namespace sage
