#include "tests/unit/checks/machines.hpp"

#include <algorithm>
#include <stdexcept>

#include "doctor/checks/registry.hpp"
#include "doctor/checks/runner.hpp"
#include "probes/facts/facts_json.hpp"

namespace sage::test {
namespace {

using namespace std::string_literals;

Variable& variable(Facts& facts, std::string_view name) {
  for (Variable& entry : facts.environment.variables) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument("no variable " + std::string(name));
}

void add_unset_variables(Facts& facts) {
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                           "HSA_ENABLE_DXG_DETECTION", "HSA_ENABLE_DTIF", "HSA_OVERRIDE_GFX_VERSION"}) {
    Variable entry;
    entry.name = name;
    entry.value = std::optional<std::string>();
    entry.assignments = std::vector<Assignment>();
    facts.environment.variables.push_back(std::move(entry));
  }
}

std::vector<Check> own_checks() {
  std::vector<Check> rows = gpu_checks();
  for (Check& more : wsl_checks()) rows.push_back(std::move(more));
  return rows;
}

}  // namespace

void set_variable(Facts& facts, std::string_view name, std::optional<std::string> value) {
  variable(facts, name).value = std::move(value);
}

void set_assignments(Facts& facts, std::string_view name, std::vector<Assignment> assignments) {
  variable(facts, name).assignments = std::move(assignments);
}

Gpu rx_9070_xt() {
  Gpu gpu;
  gpu.id = "0000:03:00.0"s;
  gpu.device_id = 0x7550U;
  gpu.revision = 0xc0U;
  gpu.name = "AMD Radeon RX 9070 XT"s;
  gpu.kind = GpuKind::discrete;
  gpu.target = "gfx1201"s;
  gpu.target_source = TargetSource::kfd;
  gpu.kfd_target = "gfx1201"s;
  gpu.ip_discovery_target = "gfx1201"s;
  gpu.table_target = "gfx1201"s;
  gpu.gc_version = "12.0.1"s;
  gpu.vram_bytes = 17095983104U;
  gpu.in_kfd = true;
  gpu.kfd_readable = true;
  gpu.kfd_index = 0U;
  gpu.kfd_node = 1U;
  gpu.compute_units = 64U;
  gpu.doorbell_type = 2U;
  gpu.uuid = "GPU-1122334455667788"s;
  gpu.render_node = "/dev/dri/renderD128"s;
  return gpu;
}

Gpu raphael_integrated() {
  Gpu gpu = rx_9070_xt();
  gpu.id = "0000:0e:00.0"s;
  gpu.device_id = 0x164eU;
  gpu.name = "AMD Radeon Graphics"s;
  gpu.kind = GpuKind::integrated;
  gpu.target = "gfx1036"s;
  gpu.kfd_target = "gfx1036"s;
  gpu.ip_discovery_target = "gfx1036"s;
  gpu.table_target = "gfx1036"s;
  gpu.kfd_index = 1U;
  gpu.kfd_node = 2U;
  gpu.compute_units = 2U;
  gpu.uuid = ""s;
  gpu.render_node = "/dev/dri/renderD129"s;
  return gpu;
}

Facts bare_metal_9070xt() {
  Facts facts;
  facts.platform.kind = PlatformKind::bare_metal;
  facts.platform.container = ContainerKind::none;
  facts.platform.is_root = false;
  facts.platform.under_sudo = false;
  facts.gpus.amd = std::vector<Gpu>{rx_9070_xt()};
  facts.gpus.others = std::vector<std::string>();
  facts.gpus.kfd_gpu_nodes = 1U;
  facts.devices.dri = std::vector<DeviceNode>(2);
  for (std::size_t i = 0; i < 2; ++i) {
    DeviceNode& node = facts.devices.dri.value()[i];
    node.path = "/dev/dri/renderD" + std::to_string(128 + i);
    node.present = true;
  }
  RocmRoot root;
  root.path = "/opt/rocm-7.2.0"s;
  root.version = "7.2.0"s;
  facts.rocm.roots = std::vector<RocmRoot>{root};
  facts.deep = false;
  add_unset_variables(facts);
  return facts;
}

HsaCopy hsa_copy(std::string path, LibraryOrigin origin, std::string version, bool names_rocdxg, bool names_d3dkmt) {
  HsaCopy copy;
  copy.path = std::move(path);
  copy.origin = origin;
  copy.rocm_version = std::move(version);
  copy.version_source = "/opt/rocm/.info/version"s;
  copy.names_rocdxg = names_rocdxg;
  copy.names_d3dkmt = names_d3dkmt;
  copy.runpath = std::vector<std::string>();
  return copy;
}

Facts wsl2_9070xt(const std::string& rocm_version) {
  Facts facts = bare_metal_9070xt();
  facts.platform.kind = PlatformKind::wsl2;
  facts.platform.distribution.id = "ubuntu"s;
  facts.platform.distribution.id_like = "debian"s;
  facts.devices.dxg.path = "/dev/dxg"s;
  facts.devices.dxg.present = true;
  facts.devices.dxg.character_device = true;
  facts.devices.dxg.mode = 0666U;
  facts.devices.dxg.open = Errno{0};

  Gpu gpu = rx_9070_xt();
  const auto no_kfd = Fact<std::string>::unknown("no KFD under WSL");
  gpu.id = "dxg:0"s;
  gpu.target_source = TargetSource::dxg_pci_id;
  gpu.kfd_target = no_kfd;
  gpu.ip_discovery_target = no_kfd;
  gpu.gc_version = no_kfd;
  gpu.uuid = no_kfd;
  gpu.in_kfd = Fact<bool>::unknown("no KFD under WSL");
  gpu.doorbell_type = Fact<std::uint32_t>::unknown("no KFD under WSL");
  facts.gpus.amd = std::vector<Gpu>{gpu};

  DxgAdapter adapter;
  adapter.vendor_id = 0x1002U;
  adapter.device_id = 0x7550U;
  adapter.name = "AMD Radeon RX 9070 XT"s;
  adapter.driver_version = "32.0.31041.1004"s;
  adapter.wddm_version = 3200U;
  Wsl& wsl = facts.wsl;
  wsl.adapters = std::vector<DxgAdapter>{adapter};
  wsl.library_folder = true;
  wsl.dxcore_path = "/usr/lib/wsl/lib/libdxcore.so"s;
  wsl.dxcore_findable = true;
  wsl.dxcore_missing_symbols = std::vector<std::string>();
  wsl.ld_conf = true;
  wsl.conf_gpu_enabled = true;
  wsl.conf_append_lib_path = true;
  wsl.conf_ldconfig = true;
  wsl.conf_interop = true;
  wsl.allowed_devices = std::vector<AllowedDevice>();
  wsl.roc4wsl_package = false;
  wsl.rocdxg_package = true;

  facts.rocm.roots.value()[0].version = rocm_version;
  facts.rocm.hsa = std::vector<HsaCopy>{
      hsa_copy("/opt/rocm/lib/libhsa-runtime64.so.1", LibraryOrigin::rocm_root, rocm_version, true, false)};
  RocdxgCopy bridge;
  bridge.path = "/opt/rocm/lib/librocdxg.so"s;
  bridge.origin = LibraryOrigin::rocm_root;
  bridge.in_loader_cache = true;
  bridge.in_library_path = false;
  bridge.exports_thunk = true;
  bridge.exports_abi_check = false;
  facts.rocm.rocdxg = std::vector<RocdxgCopy>{bridge};

  set_variable(facts, "HSA_ENABLE_DXG_DETECTION", "1");
  set_assignments(facts, "HSA_ENABLE_DXG_DETECTION", {{"/home/user1/.profile", 12, "1"}});
  return facts;
}

const GfxTables& tables() {
  static const GfxTables loaded = [] {
    auto result = GfxTables::embedded();
    if (!result) throw std::runtime_error(result.error().text);
    return std::move(result).value();
  }();
  return loaded;
}

std::vector<Finding> judge(std::string_view id, const Facts& facts) {
  for (const Check& check : own_checks()) {
    if (check.id == id) return check.run({facts, tables()});
  }
  throw std::invalid_argument("no check " + std::string(id));
}

Finding verdict(std::string_view id, const Facts& facts) {
  auto findings = judge(id, facts);
  if (findings.size() != 1) throw std::logic_error(std::string(id) + " gave not one finding");
  return std::move(findings.front());
}

std::vector<std::string> passes_by_ignorance(const Facts& facts) {
  std::vector<const Check*> selected;
  for (const Check& check : all_checks()) {
    if (check.topic == Topic::gpu || check.topic == Topic::wsl) selected.push_back(&check);
  }
  const auto before = run_checks(all_checks(), selected, {facts, tables()});
  const auto objected = [&](const Finding& finding) {
    return std::any_of(before.begin(), before.end(), [&](const Finding& old) {
      return old.id == finding.id && old.status != Status::pass &&
             (old.subject.empty() || old.subject == finding.subject);
    });
  };
  std::vector<std::string> found;
  for (const std::string& place : known_fact_places(facts)) {
    const auto blanked = with_fact_blanked(facts, place);
    if (!blanked) throw std::logic_error(blanked.error().text);
    for (const Finding& finding : run_checks(all_checks(), selected, {*blanked, tables()})) {
      if (finding.status != Status::pass || !objected(finding)) continue;
      found.push_back(finding.id + " [" + finding.subject + "] <- " + place);
    }
  }
  return found;
}

}  // namespace sage::test
