#pragma once

#include <cstdint>

#include "probes/base/fact.hpp"
#include "probes/facts/platform.hpp"

namespace sage {

/// Compiler jobs that fit into what memory is free, at 3 GiB each; at least 1, at most one for each usable CPU.
[[nodiscard]] Fact<std::uint64_t> fitting_build_jobs(const Platform& platform);

}  // namespace sage
