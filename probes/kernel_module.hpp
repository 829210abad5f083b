#pragma once

#include "probes/facts/driver.hpp"
#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Finds the amdgpu module of the running kernel and fills module_available, module_path, origin and module_signed.
/// `driver.loaded` is established before.
void probe_kernel_module(const Host& host, const Platform& platform, Driver& driver);

}  // namespace sage
