// One list of GPUs out of two sources that each know a part:
//  - KFD has the truth about compute: target, compute units, render node. It lists one node for each partition of a
//    card, and none for a GPU that the kernel could not bring up for compute;
//  - PCI has every card, its driver and its power state, also those that KFD lacks.
// A node and a PCI device are the same GPU when they have the same address. Partitions of a card share its unique id
// and carry their number in the function bits of the address, where PCI has no device, or in bits 28-31 of location_id
// on newer kernels.

#include "probes/gpus_of_kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/gpu_explain.hpp"
#include "probes/ip_discovery.hpp"
#include "probes/kfd.hpp"
#include "probes/look.hpp"
#include "probes/pci.hpp"

namespace sage {
namespace {

Fact<std::uint32_t> number32(const KfdProperties& properties, std::string_view key) {
  const auto number = properties.number(key, UINT32_MAX);
  if (!number) return Fact<std::uint32_t>::unknown(number.error());
  return static_cast<std::uint32_t>(*number);
}

template <class T>
Fact<T> as_fact(std::optional<T> value, std::string why_not) {
  return value ? Fact<T>(std::move(*value)) : Fact<T>::unknown(std::move(why_not));
}

// ---- KFD

void read_geometry(const KfdProperties& properties, Gpu& gpu) {
  gpu.wavefront_size = number32(properties, "wave_front_size");
  gpu.lds_kib = number32(properties, "lds_size_in_kb");
  gpu.max_clock_mhz = number32(properties, "max_engine_clk_fcompute");
  gpu.xcc_count = properties.has("num_xcc") ? number32(properties, "num_xcc") : Fact<std::uint32_t>(1);

  // Not array_count * cu_per_simd_array, which counts what was fused off (facts/gfx.md 0.3).
  const Fact<std::uint32_t> simds = number32(properties, "simd_count");
  const Fact<std::uint32_t> per_unit = number32(properties, "simd_per_cu");
  if (!simds.known()) {
    gpu.compute_units = simds;
  } else if (!per_unit.known()) {
    gpu.compute_units = per_unit;
  } else if (*per_unit == 0) {
    gpu.compute_units = Fact<std::uint32_t>::unknown("simd_per_cu is 0");
  } else {
    gpu.compute_units = *simds / *per_unit;
  }
}

void read_capability(const KfdProperties& properties, Gpu& gpu) {
  const Fact<std::uint32_t> capability = number32(properties, "capability");
  if (!capability.known()) {
    explain(gpu, capability.why_unknown(), &Gpu::doorbell_type, &Gpu::sram_ecc);
    return;
  }
  gpu.doorbell_type = *capability >> 12 & 3;
  gpu.sram_ecc = (*capability >> 26 & 1) != 0;
}

void read_identity(const KfdProperties& properties, Gpu& gpu) {
  gpu.device_id = number32(properties, "device_id");

  const auto unique_id = properties.number("unique_id");
  if (unique_id.ok()) {
    gpu.uuid = *unique_id == 0 ? std::string() : "GPU-" + hex(*unique_id, 16);
  } else {
    gpu.uuid = Fact<std::string>::unknown(unique_id.error());
  }

  const auto version = properties.number("gfx_target_version");
  if (version.ok()) {
    gpu.kfd_target =
        as_fact(target_of_kfd_version(*version), "gfx_target_version " + std::to_string(*version) + " is no target's");
  } else {
    gpu.kfd_target = Fact<std::string>::unknown(version.error());
  }

  const Fact<std::uint32_t> minor = number32(properties, "drm_render_minor");
  if (!minor.known()) {
    gpu.render_node = Fact<std::string>::unknown(minor.why_unknown());
  } else if (*minor == 0) {
    gpu.render_node = Fact<std::string>::unknown("KFD names no render node");
  } else {
    gpu.render_node = "/dev/dri/renderD" + std::to_string(*minor);
  }

  // An APU of the time before IP discovery is one node with the CPU.
  if (properties.number("cpu_cores_count").value_or(0) > 0) gpu.kind = GpuKind::integrated;
}

/// A GPU from its KFD node alone. `id` is left to the caller.
Gpu gpu_of_node(const KfdNode& node) {
  Gpu gpu;
  if (node.properties.ok()) {
    read_identity(*node.properties, gpu);
    read_geometry(*node.properties, gpu);
    read_capability(*node.properties, gpu);
  } else {
    explain_kfd(gpu, node.properties.error());
    explain(gpu, node.properties.error(), &Gpu::device_id, &Gpu::render_node);
  }
  gpu.vram_bytes = node.memory_bytes;
  gpu.in_kfd = true;
  gpu.kfd_node = node.number;
  gpu.kfd_readable = node.readable;
  return gpu;
}

// ---- PCI

Fact<std::string> read_driver(const Host& host, const std::string& folder) {
  const auto link = host.read_link(folder + "/driver");
  if (link.ok()) return file_name(*link);
  if (is_absent(link.error())) return std::string();
  return Fact<std::string>::unknown(link.error());
}

Fact<std::string> find_render_node(const Host& host, const std::string& folder) {
  const auto names = host.list_folder(folder + "/drm");
  if (!names) return Fact<std::string>::unknown(names.error());
  for (const std::string& name : *names) {
    if (name.starts_with("renderD")) return "/dev/dri/" + name;
  }
  return Fact<std::string>::unknown(folder + "/drm: no render node");
}

Fact<std::uint64_t> read_vram(const Host& host, const std::string& folder) {
  const std::string file = folder + "/mem_info_vram_total";
  const auto text = read_trimmed(host, file);
  if (!text) return Fact<std::uint64_t>::unknown(text.error());
  return as_fact(parse_number(*text), file + ": not a number");
}

/// Adds what sysfs knows of the PCI device; KFD's word stands where it gave one.
void add_pci_facts(const Host& host, const GfxTables& tables, const std::string& address, Gpu& gpu) {
  const std::string folder = pci_folder(address);
  if (!gpu.device_id.known()) gpu.device_id = read_pci_number(host, address, "device");
  gpu.revision = read_pci_number(host, address, "revision");
  gpu.driver = read_driver(host, folder);
  gpu.runtime_status = read_trimmed(host, folder + "/power/runtime_status");
  if (!gpu.render_node.known()) gpu.render_node = find_render_node(host, folder);
  if (!gpu.vram_bytes.known() || *gpu.vram_bytes == 0) gpu.vram_bytes = read_vram(host, folder);
  gpu.gc_version = read_gc_version(host, folder);
  gpu.ip_discovery_target = gpu.gc_version.known() ? as_fact(tables.target_of_gc_version(*gpu.gc_version),
                                                             "no table knows GC version " + *gpu.gc_version)
                                                   : Fact<std::string>::unknown(gpu.gc_version.why_unknown());
}

// ---- both

class KernelGpus {
 public:
  KernelGpus(const Host& host, const GfxTables& tables, const Result<KfdTopology>& kfd, const Result<PciGpus>& pci)
      : host_(host), tables_(tables), kfd_(kfd), pci_(pci) {
    if (!pci.ok()) return;
    for (const PciGpu& device : pci->found) {
      if (device.vendor_id == amd_vendor_id) unmatched_.push_back(device.address);
    }
  }

  std::vector<Gpu> merge() {
    if (kfd_.ok()) {
      for (const KfdNode& node : kfd_->gpus) {
        if (node.properties.ok()) {
          add_node(node);
        } else {
          mute_.push_back(&node);
        }
      }
    }
    // A mute node is one of the unmatched devices, where there are any.
    if (unmatched_.empty()) {
      for (const KfdNode* node : mute_) add_mute_node(*node);
    } else {
      for (const std::string& address : unmatched_) add_device(address);
    }
    return std::move(gpus_);
  }

 private:
  bool in_pci(const std::string& address) const {
    return pci_.ok() && std::any_of(pci_->found.begin(), pci_->found.end(),
                                    [&](const PciGpu& device) { return device.address == address; });
  }

  /// The PCI address of a node and, for a partition, of its card: see the head of this file.
  Result<std::string> card_address(const KfdProperties& properties) {
    const Fact<std::uint32_t> location = number32(properties, "location_id");
    if (!location.known()) return location.why_unknown();
    const Fact<std::uint32_t> domain = properties.has("domain") ? number32(properties, "domain") : 0u;
    if (!domain.known()) return domain.why_unknown();
    const std::string address = pci_address(*domain, *location & 0xffff);

    const std::uint64_t unique_id = properties.number("unique_id").value_or(0);
    if (unique_id == 0 || in_pci(address)) return address;
    const std::string& card = cards_.try_emplace(unique_id, address).first->second;
    const bool same_slot = address.substr(0, address.rfind('.')) == card.substr(0, card.rfind('.'));
    return same_slot ? card : address;
  }

  void add_node(const KfdNode& node) {
    Gpu gpu = gpu_of_node(node);
    if (node.readable.is(false)) {
      gpu.kfd_index = Fact<std::uint32_t>::unknown(Error{EPERM, "KFD hides the node from the runtime"});
    } else {
      gpu.kfd_index = visible_nodes_++;
    }
    const auto address = card_address(*node.properties);
    if (!address) {
      gpu.id = "kfd:" + std::to_string(node.number);
      explain_pci(gpu, address.error());
    } else {
      const int partition = partitions_[*address]++;
      gpu.id = partition == 0 ? *address : *address + "/" + std::to_string(partition);
      if (in_pci(*address)) {
        add_pci_facts(host_, tables_, *address, gpu);
        std::erase(unmatched_, *address);
      } else {
        explain_pci(gpu, pci_.ok() ? Error{ENOENT, "PCI has no device at " + *address} : pci_.error());
      }
    }
    gpus_.push_back(std::move(gpu));
  }

  void add_mute_node(const KfdNode& node) {
    Gpu gpu = gpu_of_node(node);
    gpu.id = "kfd:" + std::to_string(node.number);
    explain_pci(gpu, node.properties.error());
    gpus_.push_back(std::move(gpu));
  }

  void add_device(const std::string& address) {
    Gpu gpu;
    gpu.id = address;
    explain_kfd(gpu, {ENOENT, "no KFD node at this address"});
    gpu.in_kfd = device_in_kfd();
    if (gpu.in_kfd.is(true)) {
      explain_kfd(gpu, mute_.front()->properties.error());
      gpu.kfd_readable = mute_.front()->readable;
    }
    add_pci_facts(host_, tables_, address, gpu);
    gpus_.push_back(std::move(gpu));
  }

  /// Of a device that no node could be matched with. Where the mute nodes are as many as these devices, they are those.
  Fact<bool> device_in_kfd() const {
    if (!kfd_.ok()) return is_absent(kfd_.error()) ? Fact<bool>(false) : Fact<bool>::unknown(kfd_.error());
    if (kfd_->unclear) return Fact<bool>::unknown(*kfd_->unclear);
    if (mute_.empty()) return false;
    if (mute_.size() == unmatched_.size()) return true;
    return Fact<bool>::unknown("KFD has nodes that do not tell their address");
  }

  const Host& host_;
  const GfxTables& tables_;
  const Result<KfdTopology>& kfd_;
  const Result<PciGpus>& pci_;
  std::vector<Gpu> gpus_;
  std::vector<std::string> unmatched_;          ///< AMD devices that no node was matched with
  std::vector<const KfdNode*> mute_;            ///< nodes that do not tell their address
  std::map<std::uint64_t, std::string> cards_;  ///< address of the first node with a unique id
  std::map<std::string, int> partitions_;       ///< nodes so far, by address
  std::uint32_t visible_nodes_ = 0;
};

Fact<std::uint32_t> count_nodes(const Host& host, const Result<KfdTopology>& kfd) {
  if (kfd.ok()) {
    if (kfd->unclear) return Fact<std::uint32_t>::unknown(*kfd->unclear);
    return static_cast<std::uint32_t>(kfd->gpus.size());
  }
  if (is_absent(kfd.error()) && host.status("/sys/class").ok()) return 0u;
  return Fact<std::uint32_t>::unknown(kfd.error());
}

/// An empty list is the answer only where each place that could have shown a GPU was readable.
Fact<std::vector<Gpu>> complete(std::vector<Gpu> gpus, const Fact<std::uint32_t>& nodes, const Result<PciGpus>& pci) {
  if (!gpus.empty()) return gpus;
  if (!pci.ok()) return Fact<std::vector<Gpu>>::unknown(pci.error());
  if (pci->unclear) return Fact<std::vector<Gpu>>::unknown(*pci->unclear);
  if (!nodes.known()) return Fact<std::vector<Gpu>>::unknown(nodes.why_unknown());
  return gpus;
}

Fact<std::vector<std::string>> other_gpus(const Host& host, const Result<PciGpus>& pci) {
  if (!pci.ok()) return Fact<std::vector<std::string>>::unknown(pci.error());
  std::vector<std::string> others;
  for (const PciGpu& device : pci->found) {
    if (device.vendor_id == amd_vendor_id) continue;
    others.push_back(describe_pci_gpu(device.vendor_id, read_pci_number(host, device.address, "device").value_or(0)));
  }
  return others;
}

}  // namespace

Gpus gpus_of_kernel(const Host& host, const GfxTables& tables) {
  const Result<KfdTopology> kfd = read_kfd_topology(host);
  const Result<PciGpus> pci = list_pci_gpus(host);
  Gpus gpus;
  gpus.kfd_gpu_nodes = count_nodes(host, kfd);
  gpus.amd = complete(KernelGpus(host, tables, kfd, pci).merge(), gpus.kfd_gpu_nodes, pci);
  gpus.others = other_gpus(host, pci);
  return gpus;
}

}  // namespace sage
