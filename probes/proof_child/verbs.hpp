#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/proof_child/compile.hpp"
#include "probes/proof_child/python.hpp"
#include "probes/proof_child/runtime.hpp"

namespace sage {

/// The hidden first argument of sage-doctor behind which the proofs are. `sage-doctor internal ...` makes one proof, as
/// no process should that has something to lose, and prints it as one line of JSON: the struct of proofs.hpp.
inline constexpr std::string_view proof_verb = "internal";

/// What Host::run_program() is given to have a proof made, and how long to wait for it.
struct ProofCall {
  std::vector<std::string> arguments;
  std::chrono::milliseconds deadline{};
};

[[nodiscard]] ProofCall call_for(const CompileRequest& request);
[[nodiscard]] ProofCall call_for_runtime(const std::string& library, const std::optional<CompilerChoice>& compiler);
[[nodiscard]] ProofCall call_for_python(const std::string& executable);

/// The other side of a call: `arguments` are those behind "internal". Returns the exit status: 0 when a proof was
/// printed, 1 when none could be made, 2 for arguments that are no call.
[[nodiscard]] int run_proof(const std::vector<std::string>& arguments);

}  // namespace sage
