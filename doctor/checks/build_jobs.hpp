#pragma once

#include <cstdint>

#include "probes/base/fact.hpp"
#include "probes/facts/platform.hpp"

namespace sage {

/// Compiler jobs that fit into what memory is free now, at 3 GiB each; at least 1, at most one for each usable CPU.
[[nodiscard]] Fact<std::uint64_t> fitting_build_jobs(const Platform& platform);

/// Compiler jobs that fit into all the memory that the machine or the container has, less 2 GiB for what else runs. What
/// is free at the moment does not count: the answer is the same at any time.
[[nodiscard]] Fact<std::uint64_t> lasting_build_jobs(const Platform& platform);

}  // namespace sage
