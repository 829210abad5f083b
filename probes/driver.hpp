#pragma once

#include "probes/facts/driver.hpp"
#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The amdgpu kernel driver: loaded, available, kept from loading, its firmware, and what the kernel said about it. On
/// WSL only the kernel log is read, the rest is unknown: there is no amdgpu driver there (facts/wsl.md 2.6). In a
/// container what is not found is unknown, because the files that count are the host's.
[[nodiscard]] Driver probe_driver(const Host& host, const Platform& platform);

}  // namespace sage
