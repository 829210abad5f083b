#pragma once

#include <cstddef>

#include "probes/facts/platform.hpp"

namespace sage {

/// What one compiler run of a kernel may take, twice what was measured (docs/build.md).
inline constexpr std::uint64_t compile_memory_bytes = std::uint64_t{512} << 20;

/// Compilers at a time: one for each usable CPU as far as the free memory allows; at least one.
[[nodiscard]] std::size_t compile_jobs(const Platform& platform);

}  // namespace sage
