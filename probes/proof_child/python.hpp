#pragma once

#include <chrono>
#include <string>

#include "probes/facts/proofs.hpp"

namespace sage {

inline constexpr std::chrono::seconds python_deadline{60};

/// Runs the interpreter: imports torch, counts and names the devices and computes a small product on the first one.
[[nodiscard]] PythonProof prove_python(const std::string& executable,
                                       std::chrono::seconds deadline = python_deadline);

}  // namespace sage
