#pragma once

#include <string_view>
#include <vector>

#include "probes/facts/driver.hpp"
#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Fills blacklist and kernel_arguments from modprobe.d and /proc/cmdline.
void probe_modprobe(const Host& host, const Platform& platform, Driver& driver);

/// True for the arguments of the kernel's command line that steer GPU drivers, their loading, PCI or the IOMMU.
[[nodiscard]] bool bears_on_gpus(std::string_view argument);

/// The lines of a modprobe.d file that keep amdgpu from loading: `blacklist amdgpu` and an `install` line whose command
/// is true or false. `file` is only copied into the result.
[[nodiscard]] std::vector<Blacklisting> blacklist_lines(std::string_view text, const std::string& file);

}  // namespace sage
