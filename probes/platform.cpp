#include "probes/platform.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/container.hpp"
#include "probes/control_group.hpp"
#include "probes/hypervisor.hpp"
#include "probes/look.hpp"
#include "probes/memory.hpp"
#include "probes/os_release.hpp"

namespace sage {
namespace {

/// WSL by Microsoft's own test on the kernel's release; a kernel that the user built may carry neither text, then the
/// files and variables of WSL decide, and /dev/dxg without them is a Hyper-V guest (facts/wsl.md W0 and 2.7). nullopt:
/// no sign of either.
Fact<std::optional<PlatformKind>> windows_kind(const Host& host, const Fact<std::string>& release) {
  using Kind = Fact<std::optional<PlatformKind>>;
  if (!release.known()) return Kind::unknown(release.why_unknown());
  if (contains(*release, "Microsoft")) return std::optional(PlatformKind::wsl1);
  if (contains(*release, "microsoft")) return std::optional(PlatformKind::wsl2);

  const bool interop = host.environment().count("WSL_INTEROP") != 0;
  const Fact<bool> run_wsl = exists(host, "/run/WSL");
  const Fact<bool> dxg = exists(host, "/dev/dxg");
  if (interop || run_wsl.is(true)) return std::optional(PlatformKind::wsl2);
  if (dxg.is(true)) {
    const Fact<bool> libraries = exists(host, "/usr/lib/wsl");
    if (!libraries.known()) return Kind::unknown(libraries.why_unknown());
    return std::optional(*libraries ? PlatformKind::wsl2 : PlatformKind::gpu_pv_guest);
  }
  for (const Fact<bool>* sign : {&run_wsl, &dxg}) {
    if (!sign->known()) return Kind::unknown(sign->why_unknown());
  }
  return std::optional<PlatformKind>();
}

void probe_kind(const Host& host, const CpuInfo& cpu, Platform& platform) {
  const auto windows = windows_kind(host, platform.kernel_release);
  if (!windows.known()) {
    platform.kind = Fact<PlatformKind>::unknown(windows.why_unknown());
    platform.hypervisor = probe_hypervisor(host, cpu).name;
    return;
  }
  if (windows->has_value()) {
    platform.kind = **windows;
    // WSL1 translates system calls: there is no virtual machine.
    platform.hypervisor = std::string(**windows == PlatformKind::wsl1 ? "" : "microsoft");
    return;
  }
  const Hypervisor hypervisor = probe_hypervisor(host, cpu);
  platform.hypervisor = hypervisor.name;
  platform.kind = hypervisor.present.known() ? Fact<PlatformKind>(*hypervisor.present ? PlatformKind::virtual_machine
                                                                                      : PlatformKind::bare_metal)
                                             : Fact<PlatformKind>::unknown(hypervisor.present.why_unknown());
}

/// /proc/sys/kernel/arch came with Linux 6.1; before that this program's own file tells what it was built for.
Fact<std::string> architecture(const Host& host) {
  Result<std::string> name = read_trimmed(host, "/proc/sys/kernel/arch");
  if (name) return name;
  const Result<ElfFacts> self = host.elf("/proc/self/exe", {});
  if (!self) return Fact<std::string>::unknown(name.error());
  return self->machine;
}

void probe_libc(const Host& host, Platform& platform) {
  const Result<LibcInfo> libc = host.libc();
  if (!libc) {
    platform.libc_name = platform.libc_version = Fact<std::string>::unknown(libc.error());
    return;
  }
  platform.libc_name = libc->name;
  platform.libc_version = libc->version;
}

/// "6.0.30" of libstdc++.so.6.0.30, the file that the loader's libstdc++.so.6 leads to. It bounds the GLIBCXX_
/// versions.
Fact<std::string> libstdcxx_version(const Host& host) {
  using Text = Fact<std::string>;
  const Result<std::vector<LoaderCacheEntry>> cache = host.loader_cache();
  if (!cache) return Text::unknown(cache.error());
  for (const LoaderCacheEntry& entry : *cache) {
    if (entry.soname != "libstdc++.so.6") continue;
    const Result<std::string> path = host.canonical(entry.path);
    if (!path) return Text::unknown(path.error());
    const std::string prefix = "libstdc++.so.";
    const std::string name = file_name(*path);
    if (!name.starts_with(prefix + "6.")) return Text::unknown(*path + ": the file name carries no version");
    return name.substr(prefix.size());
  }
  return Text::unknown("libstdc++.so.6 is not in the loader's cache");
}

/// The variable holds 4 bytes of attributes and one byte of value (UEFI, and the kernel's efivarfs).
Fact<bool> secure_boot(const Host& host, const Platform& platform) {
  using Bool = Fact<bool>;
  if (platform.kind.is(PlatformKind::wsl1) || platform.kind.is(PlatformKind::wsl2)) return false;  // no firmware
  const std::string variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  const Result<std::string> value = host.read_file(variable, 64);
  if (value) {
    if (value->size() != 5) return Bool::unknown(variable + ": not 5 bytes long");
    return value->back() == 1;
  }
  if (!is_absent(value.error())) return Bool::unknown(value.error());

  const Fact<bool> efi = exists(host, "/sys/firmware/efi");
  if (!efi.known()) return efi;
  if (*efi) return Bool::unknown(Error{value.error().number, variable + " is absent: is efivarfs mounted?"});
  // Container engines cover /sys/firmware.
  const auto hidden = hidden_by_container(platform.container, "/sys/firmware");
  return hidden ? Bool::unknown(*hidden) : Bool(false);
}

void probe_user(const Host& host, const ProcessIdentity& process, Platform& platform) {
  platform.is_root = process.effective_uid == 0;
  const std::map<std::string, std::string> variables = host.environment();
  const auto sudo_uid = variables.find("SUDO_UID");
  platform.under_sudo = process.effective_uid == 0 && sudo_uid != variables.end() && sudo_uid->second != "0";
}

}  // namespace

Platform probe_platform(const Host& host) {
  Platform platform;
  const CpuInfo cpu = probe_cpu(host);
  const ProcessIdentity process = host.process();
  platform.kernel_release = read_trimmed(host, "/proc/sys/kernel/osrelease");
  platform.container = probe_container(host);
  probe_kind(host, cpu, platform);
  platform.architecture = architecture(host);
  platform.distribution = probe_distribution(host);
  probe_libc(host, platform);
  platform.libstdcxx_version = libstdcxx_version(host);
  probe_user(host, process, platform);
  platform.cpu_model = cpu.model;
  platform.usable_cpus = cpus_within_quota(host, process.usable_cpus);
  probe_memory(host, platform);
  platform.secure_boot = secure_boot(host, platform);
  return platform;
}

}  // namespace sage
