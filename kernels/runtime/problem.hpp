// Checks a caller's problem and buffers. Every field has its own error, and nothing behind this file sees a value that
// was not checked here: grids fit into a launch, sums of sizes fit into 64 bits.
#pragma once

#include <cstdint>

#include "device/plan.hpp"
#include "failure.hpp"
#include "family.hpp"

namespace sage::runtime {

struct CheckedProblem {
  sage_attention_problem fields{};  // a copy of the caller's structure, in the library's size
  device::Problem plan;
};

// Does not look at `reserved` kernels or tiles: whether there is a kernel for the problem is the context's business.
[[nodiscard]] Failure check_problem(const sage_attention_problem* problem, const FamilySupport& support,
                                    CheckedProblem& checked);

// The number of workgroups of every launch; `is_amd` because its grids are counted in work-items with 32 bits.
[[nodiscard]] Failure check_grids(const device::Problem& plan, const device::Tile& tile, bool is_amd);

[[nodiscard]] Failure check_buffers(const sage_attention_buffers* buffers, const CheckedProblem& problem,
                                    std::uint64_t workspace_bytes, sage_attention_buffers& checked);

// Copies a versioned structure, or says what is wrong with its head or tail.
[[nodiscard]] Failure copy_versioned(const void* from, void* to, std::uint32_t known_size, const char* name);

}  // namespace sage::runtime
