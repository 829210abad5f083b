#pragma once

#include <string>
#include <string_view>

#include "probes/base/fact.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// What the first processor of /proc/cpuinfo says.
struct CpuInfo {
  Fact<std::string> model;
  /// The feature flag "hypervisor" (CPUID leaf 1, ECX bit 31), which every hypervisor sets unless it was told to hide.
  /// Unknown on architectures that have no such flag.
  Fact<bool> under_hypervisor;
};

[[nodiscard]] CpuInfo probe_cpu(const Host& host);

/// Whether this is a virtual machine, and whose. `name` is empty on bare metal and unknown in a virtual machine that
/// does not say who runs it.
struct Hypervisor {
  Fact<bool> present;
  Fact<std::string> name;
};

[[nodiscard]] Hypervisor probe_hypervisor(const Host& host, const CpuInfo& cpu);

}  // namespace sage
