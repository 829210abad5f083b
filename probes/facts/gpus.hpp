#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "probes/base/enum_names.hpp"
#include "probes/base/fact.hpp"

namespace sage {

enum class GpuKind { discrete, integrated };

template <>
inline constexpr auto enum_names<GpuKind> = std::to_array<EnumName<GpuKind>>({
    {GpuKind::discrete, "discrete"},
    {GpuKind::integrated, "integrated"},
});

/// Where the claim about a GPU's gfx target comes from, the most trusted first (facts/gfx.md 2).
enum class TargetSource { configured, kfd, ip_discovery, dxg_pci_id, pci_id };

template <>
inline constexpr auto enum_names<TargetSource> = std::to_array<EnumName<TargetSource>>({
    {TargetSource::configured, "configuration"},
    {TargetSource::kfd, "kfd"},
    {TargetSource::ip_discovery, "ip-discovery"},
    {TargetSource::dxg_pci_id, "dxg-pci-id"},
    {TargetSource::pci_id, "pci-id"},
});

/// One AMD GPU (or one partition of it) as far as files and /dev/dxg tell. Sizes are bytes.
struct Gpu {
  std::string id;                     ///< "0000:03:00.0", "0000:03:00.0/1" for a further partition, "dxg:0" on WSL
  Fact<std::uint32_t> device_id;      ///< PCI device id, 0x7550
  Fact<std::uint32_t> revision;       ///< PCI revision, 0xc0
  Fact<std::string> name;             ///< marketing name, or "gfx1201 (1002:7550)" when no table knows it
  Fact<GpuKind> kind;
  Fact<std::string> target;           ///< gfx target, "gfx1201", from the best source
  Fact<TargetSource> target_source;
  Fact<std::string> kfd_target;           ///< KFD gfx_target_version; unknown without a KFD node or on old kernels
  Fact<std::string> ip_discovery_target;  ///< from the GC IP version
  Fact<std::string> table_target;         ///< from the PCI id table
  Fact<std::string> driver;           ///< bound kernel driver: "amdgpu", "vfio-pci"; empty when none is bound
  Fact<std::string> render_node;      ///< "/dev/dri/renderD128"
  Fact<std::string> runtime_status;   ///< power/runtime_status: "active", "suspended" ...
  Fact<std::uint64_t> vram_bytes;
  Fact<bool> in_kfd;                  ///< KFD has a node for it
  Fact<std::uint32_t> kfd_node;       ///< sysfs node number
  Fact<std::uint32_t> kfd_index;      ///< position among the GPU nodes of KFD: the runtime's order before any mask
  Fact<bool> kfd_readable;            ///< gpu_id can be read: false when a device cgroup hides the GPU
  Fact<std::uint32_t> compute_units;
  Fact<std::uint32_t> wavefront_size;
  Fact<std::uint32_t> lds_kib;
  Fact<std::uint32_t> max_clock_mhz;
  Fact<std::uint32_t> xcc_count;
  Fact<std::uint32_t> doorbell_type;  ///< capability bits 12-13; the user-space thunk needs 2
  Fact<bool> sram_ecc;                ///< capability bit 26: decides sramecc+ of the target id
  Fact<std::string> uuid;             ///< "GPU-<16 hex digits>", empty when the GPU has none
  Fact<std::string> gc_version;       ///< GC IP version "12.0.1" from ip_discovery

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("id", &Gpu::id);
    visit("device_id", &Gpu::device_id);
    visit("revision", &Gpu::revision);
    visit("name", &Gpu::name);
    visit("kind", &Gpu::kind);
    visit("target", &Gpu::target);
    visit("target_source", &Gpu::target_source);
    visit("kfd_target", &Gpu::kfd_target);
    visit("ip_discovery_target", &Gpu::ip_discovery_target);
    visit("table_target", &Gpu::table_target);
    visit("driver", &Gpu::driver);
    visit("render_node", &Gpu::render_node);
    visit("runtime_status", &Gpu::runtime_status);
    visit("vram_bytes", &Gpu::vram_bytes);
    visit("in_kfd", &Gpu::in_kfd);
    visit("kfd_node", &Gpu::kfd_node);
    visit("kfd_index", &Gpu::kfd_index);
    visit("kfd_readable", &Gpu::kfd_readable);
    visit("compute_units", &Gpu::compute_units);
    visit("wavefront_size", &Gpu::wavefront_size);
    visit("lds_kib", &Gpu::lds_kib);
    visit("max_clock_mhz", &Gpu::max_clock_mhz);
    visit("xcc_count", &Gpu::xcc_count);
    visit("doorbell_type", &Gpu::doorbell_type);
    visit("sram_ecc", &Gpu::sram_ecc);
    visit("uuid", &Gpu::uuid);
    visit("gc_version", &Gpu::gc_version);
  }
};

struct Gpus {
  /// Every AMD GPU found, in the order of KFD first, then PCI address. Known and empty only when the places that
  /// would show one were readable.
  Fact<std::vector<Gpu>> amd;
  Fact<std::vector<std::string>> others;  ///< display adapters of other vendors: "NVIDIA 10de:2684", in PCI order
  Fact<std::uint32_t> kfd_gpu_nodes;      ///< number of GPU nodes in the KFD topology

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("amd", &Gpus::amd);
    visit("others", &Gpus::others);
    visit("kfd_gpu_nodes", &Gpus::kfd_gpu_nodes);
  }
};

}  // namespace sage
