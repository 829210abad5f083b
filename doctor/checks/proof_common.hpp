#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// The rows of topic proof: what was found by running it, with --deep only. proof.cpp makes the table of them.
[[nodiscard]] std::vector<Finding> check_proof_compile(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_proof_runtime(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_proof_python(const CheckInput& input);

/// A skip that says how to get the proofs; nullopt when they were asked for.
[[nodiscard]] std::optional<Finding> skip_unless_deep(const Facts& facts);

/// "killed by SIGABRT: munmap_chunk(): invalid pointer"; one of the two where the other says nothing.
[[nodiscard]] std::string end_and_words(const Fact<std::string>& outcome, const Fact<std::string>& message);

/// True when it is known that this machine has an AMD GPU.
[[nodiscard]] bool has_amd_gpu(const Facts& facts);

/// With --deep on a machine that has no AMD GPU for certain: what was proved all the same, and what was not. nullopt
/// elsewhere.
[[nodiscard]] std::optional<Finding> runtimes_without_gpu(const Facts& facts);
[[nodiscard]] std::optional<Finding> pythons_without_gpu(const Facts& facts);
/// True where they have something to say.
[[nodiscard]] bool deep_without_gpu(const Facts& facts);

}  // namespace sage
