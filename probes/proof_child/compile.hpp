#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/proofs.hpp"
#include "probes/facts/toolchains.hpp"

namespace sage {

inline constexpr std::chrono::seconds compile_deadline{60};

/// What to compile with what.
struct CompileRequest {
  std::string compiler;  ///< path of the program or library
  CompilerKind kind = CompilerKind::clang;
  std::string target;    ///< "gfx1201"; of nvcc "sm_90"
  ProofSource source = ProofSource::freestanding;
  std::chrono::seconds deadline = compile_deadline;
};

/// Name of the kernel in every source.
inline constexpr std::string_view proof_kernel = "sage_proof";

/// The text to compile. The freestanding one writes proof_value(i, seed) to out[i] of `unsigned* out, unsigned seed`.
[[nodiscard]] std::string_view proof_source(CompilerKind kind, ProofSource source);

[[nodiscard]] constexpr unsigned proof_value(unsigned index, unsigned seed) { return (index * 2654435761U) ^ seed; }

struct Compiled {
  CompileProof proof;
  std::vector<std::byte> object;  ///< the code object for the target; empty unless built
};

/// Compiles in the current folder, in a child with a deadline, and reads the code object back.
[[nodiscard]] Compiled compile(const CompileRequest& request);

}  // namespace sage
