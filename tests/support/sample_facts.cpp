#include "tests/support/sample_facts.hpp"

#include <doctest/doctest.h>

#include "doctor/checks/registry.hpp"

namespace sage::test {
namespace {

using namespace std::string_literals;

const GfxTables& tables() {
  static const Result<GfxTables> loaded = GfxTables::embedded();
  REQUIRE(loaded.ok());
  return loaded.value();
}

DeviceNode node(std::string path, std::uint32_t gid, std::uint32_t minor) {
  DeviceNode node;
  node.path = std::move(path);
  node.present = true;
  node.character_device = true;
  node.mode = 0660U;
  node.uid = 0U;
  node.gid = gid;
  node.major = 226U;
  node.minor = minor;
  node.access = Errno{0};
  node.open = Errno{0};
  return node;
}

Group group(std::string name, std::uint32_t gid) {
  Group group;
  group.name = std::move(name);
  group.gid = gid;
  group.lists_user = true;
  group.in_process = true;
  return group;
}

Gpu discrete_gpu() {
  Gpu gpu;
  gpu.id = "0000:03:00.0"s;
  gpu.device_id = 0x7550U;
  gpu.revision = 0xc0U;
  gpu.name = "AMD Radeon RX 9070 XT"s;
  gpu.kind = GpuKind::discrete;
  gpu.target = "gfx1201"s;
  gpu.target_source = TargetSource::kfd;
  gpu.kfd_target = "gfx1201"s;
  gpu.driver = "amdgpu"s;
  gpu.render_node = "/dev/dri/renderD128"s;
  gpu.runtime_status = "active"s;
  gpu.in_kfd = true;
  gpu.kfd_node = 1U;
  gpu.kfd_index = 0U;
  gpu.kfd_readable = true;
  gpu.uuid = "GPU-1122334455667788"s;
  gpu.gc_version = "12.0.1"s;
  return gpu;
}

Variable variable(std::string_view name) {
  Variable variable;
  variable.name = name;
  variable.value = std::optional<std::string>();
  variable.assignments = std::vector<Assignment>{};
  return variable;
}

void set_platform(Platform& platform) {
  constexpr std::uint64_t gib = 1024ULL * 1024 * 1024;
  platform.kind = PlatformKind::bare_metal;
  platform.container = ContainerKind::none;
  platform.kernel_release = "6.14.0-37-generic"s;
  platform.distribution.id = "ubuntu"s;
  platform.distribution.id_like = "debian"s;
  platform.distribution.version_id = "24.04"s;
  platform.libc_name = "glibc"s;
  platform.libc_version = "2.39"s;
  platform.is_root = false;
  platform.under_sudo = false;
  platform.usable_cpus = 16U;
  platform.memory_total = 64 * gib;
  platform.memory_available = 50 * gib;
  platform.memory_limit = 64 * gib;
  platform.swap_total = 8 * gib;
  platform.swap_free = 8 * gib;
  platform.shm_size = 32 * gib;
  platform.secure_boot = false;
}

void set_driver(Driver& driver) {
  driver.loaded = true;
  driver.version = ""s;
  driver.module_available = true;
  driver.module_path = "/lib/modules/6.14.0-37-generic/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko"s;
  driver.origin = ModuleOrigin::in_tree;
  driver.module_signed = true;
  driver.blacklist = std::vector<Blacklisting>{};
  driver.kernel_arguments = std::vector<std::string>{};
  driver.dkms = std::vector<DkmsBuild>{};
  driver.gc_firmware = std::vector<std::string>{"gc_12_0_1_me", "gc_12_0_1_pfp"};
  driver.log = std::vector<std::string>{"[drm] amdgpu kernel modesetting enabled."};
  driver.kfd_topology = true;
}

}  // namespace

Facts healthy_facts() {
  Facts facts;
  set_platform(facts.platform);
  set_driver(facts.driver);
  facts.gpus.amd = std::vector<Gpu>{discrete_gpu()};
  facts.gpus.others = std::vector<std::string>{};
  facts.gpus.kfd_gpu_nodes = 1U;
  facts.devices.kfd = node("/dev/kfd", 992, 0);
  facts.devices.dri = std::vector<DeviceNode>{node("/dev/dri/renderD128", 992, 128)};
  facts.devices.user = "user1"s;
  facts.devices.uid = 1000U;
  facts.devices.process_groups = std::vector<std::uint32_t>{44, 992, 1000};
  facts.devices.groups = std::vector<Group>{group("video", 44), group("render", 992)};
  facts.rocm.roots = std::vector<RocmRoot>{};
  facts.rocm.hsa = std::vector<HsaCopy>{};
  facts.rocm.rocdxg = std::vector<RocdxgCopy>{};
  for (const char* name : {"HSA_OVERRIDE_GFX_VERSION", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                           "CUDA_VISIBLE_DEVICES", "ROCM_HOME", "ROCM_PATH", "HIP_PATH", "LD_LIBRARY_PATH",
                           "LD_PRELOAD", "HIP_PLATFORM", "PYTORCH_ROCM_ARCH", "WSL_DISTRO_NAME"}) {
    facts.environment.variables.push_back(variable(name));
  }
  facts.environment.named_paths = std::vector<NamedPath>{};
  facts.deep = false;
  return facts;
}

Gpu integrated_gpu() {
  Gpu gpu = discrete_gpu();
  gpu.id = "0000:0d:00.0"s;
  gpu.device_id = 0x13c0U;
  gpu.name = "AMD Radeon Graphics"s;
  gpu.kind = GpuKind::integrated;
  gpu.target = "gfx1036"s;
  gpu.kfd_target = "gfx1036"s;
  gpu.render_node = "/dev/dri/renderD129"s;
  gpu.kfd_node = 2U;
  gpu.kfd_index = 1U;
  gpu.uuid = ""s;
  gpu.gc_version = "10.3.6"s;
  return gpu;
}

Facts in_a_container(Facts facts, ContainerKind kind) {
  facts.platform.container = kind;
  return facts;
}

void set_variable(Facts& facts, std::string_view name, std::string value) {
  for (Variable& one : facts.environment.variables) {
    if (one.name != name) continue;
    one.value = std::optional<std::string>(std::move(value));
    return;
  }
  facts.environment.variables.push_back(variable(name));
  facts.environment.variables.back().value = std::optional<std::string>(std::move(value));
}

std::vector<Finding> findings_of(std::string_view id, const Facts& facts) {
  const Check* check = find_check(id);
  REQUIRE(check != nullptr);
  return check->run({facts, tables()});
}

Finding finding_of(std::string_view id, const Facts& facts) {
  const std::vector<Finding> findings = findings_of(id, facts);
  REQUIRE(findings.size() == 1);
  return findings.front();
}

std::string commands_of(const Finding& finding) {
  std::string all;
  for (const Remedy& remedy : finding.remedies) {
    for (const std::string& command : remedy.commands) all += command + "\n";
  }
  return all;
}

}  // namespace sage::test
