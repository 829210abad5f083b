#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "probes/facts/proofs.hpp"
#include "probes/facts/toolchains.hpp"

namespace sage {

inline constexpr std::chrono::seconds runtime_deadline{30};

/// A compiler for the kernel that is launched where a GPU answers.
struct CompilerChoice {
  std::string path;
  CompilerKind kind = CompilerKind::clang;
};

/// Loads a libamdhip64 in a child, asks it for its version and devices and, where there is one, runs a kernel on the
/// first device. Without a compiler no kernel is run.
[[nodiscard]] RuntimeProof prove_runtime(const std::string& library, const std::optional<CompilerChoice>& compiler,
                                         std::chrono::seconds deadline = runtime_deadline);

}  // namespace sage
