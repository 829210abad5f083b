#include "probes/gpus.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/gpu_explain.hpp"
#include "probes/gpus_of_kernel.hpp"
#include "probes/pci.hpp"
#include "probes/wsl.hpp"

namespace sage {
namespace {

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
