#pragma once

#include <string>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The version of a GPU's graphics core, "12.0.1", from the IP discovery table that amdgpu shows in sysfs (Renoir and
/// later; reading it does not wake the GPU, facts/gfx.md 2). `device_folder` is the PCI device's. Error: no such table,
/// or what is wrong with it.
[[nodiscard]] Result<std::string> read_gc_version(const Host& host, const std::string& device_folder);

}  // namespace sage
