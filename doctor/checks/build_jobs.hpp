#pragma once

#include <cstdint>

#include "probes/base/fact.hpp"
#include "probes/facts/platform.hpp"

namespace sage {

/// What one source of a PyTorch extension, HIP or C++ with many templates, may take. An estimate: it only steers advice.
inline constexpr std::uint64_t memory_per_extension_job = 3ULL << 30;
/// What one unit of our kernels may take. clang 19 and hipcc 5.2.3 took at most 160 MiB in their largest process.
inline constexpr std::uint64_t memory_per_kernel_job = 384ULL << 20;

/// Compiler jobs that fit into what memory is free; at least 1, at most one for each usable CPU.
[[nodiscard]] Fact<std::uint64_t> fitting_build_jobs(const Platform& platform, std::uint64_t memory_per_job);

/// Jobs of PyTorch extensions that fit into all the memory that the machine or the container has, less 2 GiB for what else runs. What
/// is free at the moment does not count: the answer is the same at any time.
[[nodiscard]] Fact<std::uint64_t> lasting_build_jobs(const Platform& platform);

}  // namespace sage
