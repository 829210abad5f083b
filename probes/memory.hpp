#pragma once

#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Fills the memory_*, swap_* and shm_size facts of `platform`; all sizes are bytes.
void probe_memory(const Host& host, Platform& platform);

}  // namespace sage
