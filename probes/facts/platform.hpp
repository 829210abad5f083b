#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"

namespace sage {

/// What the kernel runs on. `gpu_pv_guest` is a Hyper-V guest with /dev/dxg that is not WSL (facts/wsl.md 2.7).
enum class PlatformKind { bare_metal, virtual_machine, wsl1, wsl2, gpu_pv_guest };

template <>
inline constexpr auto enum_names<PlatformKind> = std::to_array<EnumName<PlatformKind>>({
    {PlatformKind::bare_metal, "bare-metal"},
    {PlatformKind::virtual_machine, "virtual-machine"},
    {PlatformKind::wsl1, "wsl1"},
    {PlatformKind::wsl2, "wsl2"},
    {PlatformKind::gpu_pv_guest, "gpu-pv-guest"},
});

enum class ContainerKind { none, docker, podman, lxc, apptainer, toolbox, kubernetes, wslc, other };

template <>
inline constexpr auto enum_names<ContainerKind> = std::to_array<EnumName<ContainerKind>>({
    {ContainerKind::none, "none"},
    {ContainerKind::docker, "docker"},
    {ContainerKind::podman, "podman"},
    {ContainerKind::lxc, "lxc"},
    {ContainerKind::apptainer, "apptainer"},
    {ContainerKind::toolbox, "toolbox"},
    {ContainerKind::kubernetes, "kubernetes"},
    {ContainerKind::wslc, "wslc"},
    {ContainerKind::other, "other"},
});

/// /etc/os-release (or /usr/lib/os-release).
struct Distribution {
  Fact<std::string> id;           ///< "debian", "ubuntu", "fedora", "arch" ...
  Fact<std::string> id_like;      ///< space separated, empty when the key is absent
  Fact<std::string> version_id;   ///< "12", "24.04"; empty for rolling releases
  Fact<std::string> pretty_name;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("id", &Distribution::id);
    visit("id_like", &Distribution::id_like);
    visit("version_id", &Distribution::version_id);
    visit("pretty_name", &Distribution::pretty_name);
  }
};

/// The machine around the GPU. Sizes are bytes.
struct Platform {
  Fact<PlatformKind> kind;
  Fact<ContainerKind> container;
  Fact<std::string> hypervisor;      ///< "kvm", "vmware", "microsoft" ...; empty on bare metal
  Fact<std::string> kernel_release;  ///< as in /proc/sys/kernel/osrelease
  Fact<std::string> architecture;    ///< "x86_64"
  Distribution distribution;
  Fact<std::string> libc_name;          ///< "glibc" or "musl"
  Fact<std::string> libc_version;       ///< "2.36"
  Fact<std::string> libstdcxx_version;  ///< from the file name that libstdc++.so.6 points to: "6.0.30"
  Fact<bool> is_root;                   ///< effective uid 0
  Fact<bool> under_sudo;                ///< root by way of sudo (SUDO_UID)
  Fact<std::string> cpu_model;
  Fact<std::uint32_t> usable_cpus;  ///< by affinity and by the cgroups' quotas of processor time
  Fact<std::uint64_t> memory_total;
  Fact<std::uint64_t> memory_available;
  Fact<std::uint64_t> memory_limit;  ///< the cgroup's limit; the total when there is none
  Fact<std::uint64_t> swap_total;
  Fact<std::uint64_t> swap_free;
  Fact<std::uint64_t> shm_size;  ///< of the filesystem at /dev/shm
  Fact<bool> secure_boot;        ///< enabled in the firmware; false on machines without UEFI

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("kind", &Platform::kind);
    visit("container", &Platform::container);
    visit("hypervisor", &Platform::hypervisor);
    visit("kernel_release", &Platform::kernel_release);
    visit("architecture", &Platform::architecture);
    visit("distribution", &Platform::distribution);
    visit("libc_name", &Platform::libc_name);
    visit("libc_version", &Platform::libc_version);
    visit("libstdcxx_version", &Platform::libstdcxx_version);
    visit("is_root", &Platform::is_root);
    visit("under_sudo", &Platform::under_sudo);
    visit("cpu_model", &Platform::cpu_model);
    visit("usable_cpus", &Platform::usable_cpus);
    visit("memory_total", &Platform::memory_total);
    visit("memory_available", &Platform::memory_available);
    visit("memory_limit", &Platform::memory_limit);
    visit("swap_total", &Platform::swap_total);
    visit("swap_free", &Platform::swap_free);
    visit("shm_size", &Platform::shm_size);
    visit("secure_boot", &Platform::secure_boot);
  }
};

}  // namespace sage
