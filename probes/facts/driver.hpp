#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"

namespace sage {

enum class ModuleOrigin { in_tree, dkms, built_in };

template <>
inline constexpr auto enum_names<ModuleOrigin> = std::to_array<EnumName<ModuleOrigin>>({
    {ModuleOrigin::in_tree, "in-tree"},
    {ModuleOrigin::dkms, "dkms"},
    {ModuleOrigin::built_in, "built-in"},
});

/// A line that keeps amdgpu from loading.
struct Blacklisting {
  std::string file;  ///< a modprobe.d file, or /proc/cmdline
  std::uint32_t line = 0;
  std::string text;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("file", &Blacklisting::file);
    visit("line", &Blacklisting::line);
    visit("text", &Blacklisting::text);
  }
};

/// One build of the amdgpu DKMS package, from /var/lib/dkms/amdgpu/<version>/<kernel>/.
struct DkmsBuild {
  std::string version;
  std::string kernel;  ///< empty: added, built for no kernel

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("version", &DkmsBuild::version);
    visit("kernel", &DkmsBuild::kernel);
  }
};

/// The amdgpu kernel driver.
struct Driver {
  Fact<bool> loaded;                ///< /sys/module/amdgpu exists
  Fact<std::string> version;        ///< /sys/module/amdgpu/version: only out-of-tree builds have it; else empty
  Fact<bool> module_available;      ///< there is an amdgpu module for the running kernel (or it is built in)
  Fact<std::string> module_path;    ///< of that module; empty when built in
  Fact<ModuleOrigin> origin;        ///< by the module's path below /lib/modules
  Fact<bool> module_signed;         ///< the file ends in a module signature; unknown for compressed modules
  Fact<std::vector<Blacklisting>> blacklist;
  Fact<std::vector<std::string>> kernel_arguments;  ///< those of /proc/cmdline that bear on GPUs
  Fact<std::vector<DkmsBuild>> dkms;
  Fact<std::vector<std::string>> gc_firmware;  ///< names of gc_* files in the amdgpu firmware folder, ending stripped
  Fact<std::vector<std::string>> log;          ///< kernel log lines about amdgpu, kfd, dxg or rejected modules
  Fact<bool> kfd_topology;                     ///< /sys/class/kfd/kfd/topology exists

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("loaded", &Driver::loaded);
    visit("version", &Driver::version);
    visit("module_available", &Driver::module_available);
    visit("module_path", &Driver::module_path);
    visit("origin", &Driver::origin);
    visit("module_signed", &Driver::module_signed);
    visit("blacklist", &Driver::blacklist);
    visit("kernel_arguments", &Driver::kernel_arguments);
    visit("dkms", &Driver::dkms);
    visit("gc_firmware", &Driver::gc_firmware);
    visit("log", &Driver::log);
    visit("kfd_topology", &Driver::kfd_topology);
  }
};

}  // namespace sage
