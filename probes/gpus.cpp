// One list of GPUs out of sources that each know a part:
//  - KFD has the truth about compute: target, compute units, render node. It lists one node for each partition of a
//    card, and none for a GPU that the kernel could not bring up for compute;
//  - PCI has every card, its driver and its power state, also those that KFD lacks;
//  - /dev/dxg is all there is under WSL2, where neither of the two exists.
// A node and a PCI device are the same GPU when they have the same address. Partitions carry their number in the
// function bits of the address (or in bits 28-31 of location_id on newer kernels), where PCI has no device.

#include "probes/gpus.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/ip_discovery.hpp"
#include "probes/kfd.hpp"
#include "probes/pci.hpp"
#include "probes/wsl.hpp"

namespace sage {
namespace {

// ---- words

/// Makes the given facts of a GPU unknown for one reason.
template <class... Members>
void explain(Gpu& gpu, const Error& why, Members... members) {
  ((gpu.*members = std::decay_t<decltype(gpu.*members)>::unknown(why)), ...);
}

void explain_kfd(Gpu& gpu, const Error& why) {
  explain(gpu, why, &Gpu::kfd_target, &Gpu::kfd_node, &Gpu::kfd_index, &Gpu::kfd_readable, &Gpu::compute_units,
          &Gpu::wavefront_size, &Gpu::lds_kib, &Gpu::max_clock_mhz, &Gpu::xcc_count, &Gpu::doorbell_type,
          &Gpu::sram_ecc, &Gpu::uuid);
}

void explain_pci(Gpu& gpu, const Error& why) {
  explain(gpu, why, &Gpu::revision, &Gpu::driver, &Gpu::runtime_status, &Gpu::gc_version, &Gpu::ip_discovery_target);
}

Fact<std::uint32_t> number32(const KfdProperties& properties, std::string_view key) {
  const auto number = properties.number(key, UINT32_MAX);
  if (!number) return Fact<std::uint32_t>::unknown(number.error());
  return static_cast<std::uint32_t>(*number);
}

template <class T>
Fact<T> as_fact(std::optional<T> value, std::string why_not) {
  return value ? Fact<T>(std::move(*value)) : Fact<T>::unknown(std::move(why_not));
}

Fact<std::string> trimmed(const Result<std::string>& text) {
  if (!text) return Fact<std::string>::unknown(text.error());
  return std::string(trim(*text));
}

// ---- KFD

/// The PCI address of a node and, for a partition, of its card: see the head of this file.
Result<std::string> card_address(const KfdProperties& properties, std::map<std::uint64_t, std::string>& cards,
                                 const std::vector<PciGpu>& pci) {
  const Fact<std::uint32_t> location = number32(properties, "location_id");
  if (!location.known()) return location.why_unknown();
  std::uint32_t domain = 0;
  if (properties.has("domain")) {
    const Fact<std::uint32_t> known = number32(properties, "domain");
    if (!known.known()) return known.why_unknown();
    domain = *known;
  }
  const std::string address = pci_address(domain, *location & 0xffff);
  const bool in_pci =
      std::any_of(pci.begin(), pci.end(), [&](const PciGpu& device) { return device.address == address; });
  const std::uint64_t unique_id = properties.number("unique_id").value_or(0);
  if (unique_id == 0) return address;
  const auto [card, first] = cards.try_emplace(unique_id, address);
  const std::string_view card_slot = std::string_view(card->second).substr(0, card->second.rfind('.'));
  const bool same_slot = address.substr(0, address.rfind('.')) == card_slot;
  return !first && !in_pci && same_slot ? card->second : address;
}

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
  if (link.ok()) return link->substr(link->rfind('/') + 1);
  if (link.error().number == ENOENT) return std::string();
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
  const auto text = host.read_file(file);
  if (!text) return Fact<std::uint64_t>::unknown(text.error());
  return as_fact(parse_number(trim(*text)), file + ": not a number");
}

/// Adds what sysfs knows of the PCI device; KFD's word stands where it gave one.
void add_pci_facts(const Host& host, const GfxTables& tables, const std::string& address, Gpu& gpu) {
  const std::string folder = pci_folder(address);
  if (!gpu.device_id.known()) gpu.device_id = read_pci_number(host, address, "device");
  gpu.revision = read_pci_number(host, address, "revision");
  gpu.driver = read_driver(host, folder);
  gpu.runtime_status = trimmed(host.read_file(folder + "/power/runtime_status"));
  if (!gpu.render_node.known()) gpu.render_node = find_render_node(host, folder);
  if (!gpu.vram_bytes.known() || *gpu.vram_bytes == 0) gpu.vram_bytes = read_vram(host, folder);
  gpu.gc_version = read_gc_version(host, folder);
  gpu.ip_discovery_target = gpu.gc_version.known() ? as_fact(tables.target_of_gc_version(*gpu.gc_version),
                                                             "no table knows GC version " + *gpu.gc_version)
                                                   : Fact<std::string>::unknown(gpu.gc_version.why_unknown());
}

// ---- both

/// KFD nodes whose GPU a device cgroup hides do not tell their address. When they are as many as the PCI devices that
/// are left, they are those; otherwise which ones they are can't be told.
void add_pci_only(const Host& host, const GfxTables& tables, const std::vector<PciGpu>& left,
                  const Result<KfdTopology>& kfd, const std::vector<const KfdNode*>& hidden, std::vector<Gpu>& gpus) {
  for (const PciGpu& device : left) {
    Gpu gpu;
    gpu.id = device.address;
    explain_kfd(gpu, {0, "no KFD node"});
    if (!hidden.empty() && hidden.size() == left.size()) {
      explain_kfd(gpu, {EPERM, "KFD hides the node"});
      gpu.in_kfd = true;
      gpu.kfd_readable = false;
    } else if (!hidden.empty()) {
      gpu.in_kfd = Fact<bool>::unknown("KFD hides nodes, and this GPU may be one of them");
    } else if (kfd.ok() && kfd->unclear) {
      gpu.in_kfd = Fact<bool>::unknown(*kfd->unclear);
    } else if (kfd.ok() || kfd.error().number == ENOENT) {
      gpu.in_kfd = false;
    } else {
      gpu.in_kfd = Fact<bool>::unknown(kfd.error());
    }
    add_pci_facts(host, tables, device.address, gpu);
    gpus.push_back(std::move(gpu));
  }
  if (!left.empty()) return;
  for (const KfdNode* node : hidden) {
    Gpu gpu = gpu_of_node(*node);
    gpu.id = "kfd:" + std::to_string(node->number);
    explain_pci(gpu, {EPERM, "KFD hides the node"});
    gpu.kfd_index = Fact<std::uint32_t>::unknown(Error{EPERM, "KFD hides the node"});
    gpus.push_back(std::move(gpu));
  }
}

std::vector<Gpu> merge(const Host& host, const GfxTables& tables, const Result<KfdTopology>& kfd,
                       const Result<PciGpus>& pci) {
  const std::vector<PciGpu> devices = pci.ok() ? pci->found : std::vector<PciGpu>{};
  std::vector<PciGpu> left;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(left),
               [](const PciGpu& device) { return device.vendor_id == amd_vendor_id; });

  const std::vector<KfdNode> none;
  const std::vector<KfdNode>& nodes = kfd.ok() ? kfd->gpus : none;
  std::vector<Gpu> gpus;
  std::vector<const KfdNode*> hidden;
  std::map<std::uint64_t, std::string> cards;
  std::map<std::string, int> partitions;
  std::uint32_t index = 0;
  for (const KfdNode& node : nodes) {
    if (!node.properties.ok()) {
      hidden.push_back(&node);
      continue;
    }
    Gpu gpu = gpu_of_node(node);
    if (node.readable.is(false)) {
      gpu.kfd_index = Fact<std::uint32_t>::unknown(Error{EPERM, "KFD hides the node from the runtime"});
    } else {
      gpu.kfd_index = index++;
    }
    const auto address = card_address(*node.properties, cards, devices);
    if (!address) {
      gpu.id = "kfd:" + std::to_string(node.number);
      explain_pci(gpu, address.error());
    } else {
      const int partition = partitions[*address]++;
      gpu.id = partition == 0 ? *address : *address + "/" + std::to_string(partition);
      const auto device = std::find_if(devices.begin(), devices.end(),
                                       [&](const PciGpu& candidate) { return candidate.address == *address; });
      if (device != devices.end()) {
        add_pci_facts(host, tables, *address, gpu);
      } else {
        explain_pci(gpu, pci.ok() ? Error{ENOENT, "PCI has no device at " + *address} : pci.error());
      }
      std::erase_if(left, [&](const PciGpu& candidate) { return candidate.address == *address; });
    }
    gpus.push_back(std::move(gpu));
  }
  add_pci_only(host, tables, left, kfd, hidden, gpus);
  return gpus;
}

Fact<std::uint32_t> count_nodes(const Host& host, const Result<KfdTopology>& kfd) {
  if (kfd.ok()) {
    if (kfd->unclear) return Fact<std::uint32_t>::unknown(*kfd->unclear);
    return static_cast<std::uint32_t>(kfd->gpus.size());
  }
  if (kfd.error().number == ENOENT && host.status("/sys/class").ok()) return 0u;
  return Fact<std::uint32_t>::unknown(kfd.error());
}

Gpus gpus_of_kernel(const Host& host, const GfxTables& tables) {
  const Result<KfdTopology> kfd = read_kfd_topology(host);
  const Result<PciGpus> pci = list_pci_gpus(host);

  Gpus gpus;
  gpus.kfd_gpu_nodes = count_nodes(host, kfd);
  std::vector<Gpu> amd = merge(host, tables, kfd, pci);
  // An empty list is the answer only where each place that could have shown a GPU was readable.
  if (!amd.empty()) {
    gpus.amd = std::move(amd);
  } else if (!pci.ok()) {
    gpus.amd = Fact<std::vector<Gpu>>::unknown(pci.error());
  } else if (pci->unclear) {
    gpus.amd = Fact<std::vector<Gpu>>::unknown(*pci->unclear);
  } else if (!gpus.kfd_gpu_nodes.known()) {
    gpus.amd = Fact<std::vector<Gpu>>::unknown(gpus.kfd_gpu_nodes.why_unknown());
  } else {
    gpus.amd = std::vector<Gpu>{};
  }

  if (!pci.ok()) {
    gpus.others = Fact<std::vector<std::string>>::unknown(pci.error());
    return gpus;
  }
  std::vector<std::string> others;
  for (const PciGpu& device : pci->found) {
    if (device.vendor_id == amd_vendor_id) continue;
    others.push_back(describe_pci_gpu(device.vendor_id, read_pci_number(host, device.address, "device").value_or(0)));
  }
  gpus.others = std::move(others);
  return gpus;
}

// ---- WSL

Gpu gpu_of_adapter(const DxgAdapter& adapter, std::size_t index) {
  const Error why{0, "WSL has no KFD and no PCI devices"};
  Gpu gpu;
  gpu.id = "dxg:" + std::to_string(index);
  explain_kfd(gpu, why);
  explain_pci(gpu, why);
  explain(gpu, why, &Gpu::render_node, &Gpu::in_kfd);
  gpu.device_id = adapter.device_id;
  gpu.revision = adapter.revision;
  gpu.name = adapter.name;
  gpu.vram_bytes = adapter.dedicated_bytes;
  if (adapter.hybrid_integrated.is(true)) gpu.kind = GpuKind::integrated;
  return gpu;
}

Gpus gpus_of_adapters(const Fact<std::vector<DxgAdapter>>& adapters) {
  Gpus gpus;
  gpus.kfd_gpu_nodes = Fact<std::uint32_t>::unknown("WSL has no KFD");
  if (!adapters.known()) {
    gpus.amd = Fact<std::vector<Gpu>>::unknown(adapters.why_unknown());
    gpus.others = Fact<std::vector<std::string>>::unknown(adapters.why_unknown());
    return gpus;
  }
  std::vector<Gpu> amd;
  std::vector<std::string> others;
  std::optional<Error> unclear;
  for (const DxgAdapter& adapter : *adapters) {
    if (!adapter.vendor_id.known()) {
      unclear = adapter.vendor_id.why_unknown();
    } else if (*adapter.vendor_id == amd_vendor_id) {
      amd.push_back(gpu_of_adapter(adapter, amd.size()));
    } else {
      others.push_back(describe_pci_gpu(*adapter.vendor_id, adapter.device_id.value_or(0)));
    }
  }
  gpus.amd =
      amd.empty() && unclear ? Fact<std::vector<Gpu>>::unknown(*unclear) : Fact<std::vector<Gpu>>(std::move(amd));
  gpus.others = std::move(others);
  return gpus;
}

// ---- what follows from the sources

/// The best claim about the target, in the order of trust (facts/gfx.md 2).
void settle_target(const GfxTables& tables, TargetSource table_source, Gpu& gpu) {
  if (gpu.device_id.known()) {
    const GpuModel* model = tables.model(*gpu.device_id);
    gpu.table_target = model != nullptr
                           ? Fact<std::string>(model->target)
                           : Fact<std::string>::unknown("no table knows device id " + hex(*gpu.device_id, 4));
  } else {
    gpu.table_target = Fact<std::string>::unknown(gpu.device_id.why_unknown());
  }
  const std::pair<const Fact<std::string>&, TargetSource> claims[] = {
      {gpu.kfd_target, TargetSource::kfd},
      {gpu.ip_discovery_target, TargetSource::ip_discovery},
      {gpu.table_target, table_source},
  };
  for (const auto& [claim, source] : claims) {
    if (!claim.known()) continue;
    gpu.target = claim;
    gpu.target_source = source;
    return;
  }
  gpu.target = Fact<std::string>::unknown(gpu.table_target.why_unknown());
  gpu.target_source = Fact<TargetSource>::unknown(gpu.table_target.why_unknown());
}

/// A configured target that one of the GPUs has by itself points at that GPU and changes nothing; one that none has is
/// what the user knows better.
void apply_configuration(const std::string& configured, std::vector<Gpu>& gpus) {
  if (configured.empty()) return;
  if (std::any_of(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.target.is(configured); })) return;
  for (Gpu& gpu : gpus) {
    gpu.target = configured;
    gpu.target_source = TargetSource::configured;
  }
}

void settle_kind(const GfxTables& tables, Gpu& gpu) {
  if (gpu.kind.known()) return;
  std::optional<bool> integrated;
  const GpuModel* model = gpu.device_id.known() ? tables.model(*gpu.device_id) : nullptr;
  if (model != nullptr) {
    integrated = model->integrated;
  } else if (gpu.target.known()) {
    integrated = tables.target_integrated(*gpu.target);
  }
  if (integrated) {
    gpu.kind = *integrated ? GpuKind::integrated : GpuKind::discrete;
  } else {
    gpu.kind = Fact<GpuKind>::unknown("no table knows the GPU");
  }
}

void name_by_table(const GfxTables& tables, Gpu& gpu) {
  if (!gpu.device_id.known()) return;
  const auto revision = gpu.revision.known() ? std::optional(*gpu.revision) : std::nullopt;
  if (auto name = tables.marketing_name(*gpu.device_id, revision)) gpu.name = std::move(*name);
}

/// libdrm costs a child process and opens the device: it is asked only for what nothing else told, and only of GPUs
/// that are awake, since opening a render node wakes one.
void ask_libdrm(const Host& host, std::vector<Gpu>& gpus) {
  std::vector<std::string> nodes;
  for (const Gpu& gpu : gpus) {
    const bool lacking = !gpu.name.known() || !gpu.vram_bytes.known();
    if (lacking && gpu.render_node.known() && gpu.runtime_status.is("active")) nodes.push_back(*gpu.render_node);
  }
  if (nodes.empty()) return;
  const auto replies = host.drm_devices(nodes);
  if (!replies) return;
  for (const DrmDeviceReply& reply : *replies) {
    for (Gpu& gpu : gpus) {
      if (!gpu.render_node.is(reply.render_node)) continue;
      if (!gpu.name.known() && !reply.marketing_name.empty()) gpu.name = reply.marketing_name;
      if (!gpu.vram_bytes.known() && reply.vram_bytes > 0) gpu.vram_bytes = reply.vram_bytes;
    }
  }
}

/// "gfx1201 (1002:7550)" for a GPU that no table names.
std::string technical_name(const Gpu& gpu) {
  std::string name = gpu.target.value_or("AMD GPU");
  if (gpu.device_id.known()) name += " (" + hex(amd_vendor_id, 4) + ":" + hex(*gpu.device_id, 4) + ")";
  return name;
}

}  // namespace

Gpus probe_gpus(const Host& host, const GfxTables& tables, const ProbeOptions& options, const Platform& platform,
                const Wsl& wsl) {
  const bool dxg = has_dxg(platform);
  Gpus gpus = dxg ? gpus_of_adapters(wsl.adapters) : gpus_of_kernel(host, tables);
  if (!gpus.amd.known()) return gpus;

  std::vector<Gpu>& amd = gpus.amd.value();
  for (Gpu& gpu : amd) {
    settle_target(tables, dxg ? TargetSource::dxg_pci_id : TargetSource::pci_id, gpu);
    settle_kind(tables, gpu);
    name_by_table(tables, gpu);
  }
  ask_libdrm(host, amd);
  apply_configuration(options.target, amd);
  for (Gpu& gpu : amd) {
    if (!gpu.name.known()) gpu.name = technical_name(gpu);
  }
  return gpus;
}

}  // namespace sage
