#include "probes/gpus.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "probes/base/text.hpp"
#include "tests/support/kfd_tree.hpp"

namespace sage {
namespace {

const std::string pci = "/sys/bus/pci/devices/";
const std::string kfd_nodes = "/sys/class/kfd/kfd/topology/nodes/";

/// Counts what libdrm is asked.
class DrmHost : public MemoryHost {
 public:
  Result<std::vector<DrmDeviceReply>> replies = std::vector<DrmDeviceReply>{};
  mutable std::vector<std::vector<std::string>> asked;

  Result<std::vector<DrmDeviceReply>> drm_devices(const std::vector<std::string>& render_nodes) const override {
    asked.push_back(render_nodes);
    return replies;
  }
};

struct PciText {
  std::string vendor = "0x1002";
  std::string device = "0x7550";
  std::string device_class = "0x030000";
  std::string revision = "0xc0";
  std::string driver = "amdgpu";
};

void add_pci(MemoryHost& host, const std::string& address, const PciText& text = {}) {
  const std::string folder = pci + address;
  host.file(folder + "/vendor", text.vendor + "\n");
  host.file(folder + "/device", text.device + "\n");
  host.file(folder + "/class", text.device_class + "\n");
  host.file(folder + "/revision", text.revision + "\n");
  host.file(folder + "/power/runtime_status", "active\n");
  if (!text.driver.empty()) host.link(folder + "/driver", "../../../../bus/pci/drivers/" + text.driver);
}

void add_gc_version(MemoryHost& host, const std::string& address, const std::string& instance, const char* major,
                    const char* minor, const char* revision) {
  const std::string folder = pci + address + "/ip_discovery/die/0/" + instance + "/0/";
  host.file(folder + "major", std::string(major) + "\n");
  host.file(folder + "minor", std::string(minor) + "\n");
  host.file(folder + "revision", std::string(revision) + "\n");
}

Platform platform_of(PlatformKind kind) {
  Platform platform;
  platform.kind = kind;
  return platform;
}

Gpus probe(const Host& host, const ProbeOptions& options = {}) {
  return probe_gpus(host, *GfxTables::embedded(), options, platform_of(PlatformKind::bare_metal), Wsl{});
}

ProbeOptions configured(const std::string& target) {
  ProbeOptions options;
  options.target = target;
  return options;
}

DxgAdapter amd_adapter() {
  DxgAdapter adapter;
  adapter.vendor_id = 0x1002u;
  adapter.device_id = 0x7550u;
  adapter.revision = 0xc0u;
  adapter.name = std::string("AMD Radeon RX 9070 XT");
  adapter.dedicated_bytes = std::uint64_t{17095983104};
  return adapter;
}

Gpus probe_wsl2(const Fact<std::vector<DxgAdapter>>& adapters) {
  Wsl wsl;
  wsl.adapters = adapters;
  return probe_gpus(MemoryHost(), *GfxTables::embedded(), {}, platform_of(PlatformKind::wsl2), wsl);
}

const std::vector<Gpu>& amd_of(const Gpus& gpus) {
  REQUIRE_MESSAGE(gpus.amd.known(), (gpus.amd.known() ? "" : gpus.amd.why_unknown().text));
  return gpus.amd.value();
}

}  // namespace

TEST_CASE("a KFD node and its PCI device are one GPU with the facts of both") {
  DrmHost host;
  add_kfd_cpu(host, 0);
  add_kfd_node(host, 1, kfd_properties(), 8);
  add_pci(host, "0000:03:00.0");
  add_gc_version(host, "0000:03:00.0", "GC", "12", "0", "1");
  const Gpus gpus = probe(host);
  REQUIRE(amd_of(gpus).size() == 1);
  const Gpu& gpu = amd_of(gpus)[0];
  CHECK(gpu.id == "0000:03:00.0");
  CHECK(gpu.name.is("AMD Radeon RX 9070 XT"));
  CHECK(gpu.device_id.is(0x7550));
  CHECK(gpu.revision.is(0xc0));
  CHECK(gpu.kind.is(GpuKind::discrete));
  CHECK(gpu.target.is("gfx1201"));
  CHECK(gpu.target_source.is(TargetSource::kfd));
  CHECK(gpu.kfd_target.is("gfx1201"));
  CHECK(gpu.ip_discovery_target.is("gfx1201"));
  CHECK(gpu.table_target.is("gfx1201"));
  CHECK(gpu.gc_version.is("12.0.1"));
  CHECK(gpu.driver.is("amdgpu"));
  CHECK(gpu.render_node.is("/dev/dri/renderD128"));
  CHECK(gpu.runtime_status.is("active"));
  CHECK(gpu.vram_bytes.is(17095983104));
  CHECK(gpu.in_kfd.is(true));
  CHECK(gpu.kfd_node.is(1));
  CHECK(gpu.kfd_index.is(0));
  CHECK(gpu.kfd_readable.is(true));
  CHECK(gpu.compute_units.is(64));
  CHECK(gpu.wavefront_size.is(32));
  CHECK(gpu.lds_kib.is(64));
  CHECK(gpu.max_clock_mhz.is(2970));
  CHECK(gpu.xcc_count.is(1));
  CHECK(gpu.doorbell_type.is(2));
  CHECK(gpu.sram_ecc.is(false));
  CHECK(gpu.uuid.is("GPU-0123456789abcdef"));
  CHECK(gpus.kfd_gpu_nodes.is(1));
  CHECK(host.asked.empty());
}

TEST_CASE("a GPU that KFD lacks is found on the PCI bus, with its target from IP discovery or the table") {
  MemoryHost host;
  host.folder("/sys/class/net");
  add_pci(host, "0000:03:00.0", {.driver = ""});
  add_pci(host, "0000:0c:00.0", {.device = "0x13c0", .revision = "0xc1"});
  add_gc_version(host, "0000:0c:00.0", "11", "10", "3", "6");
  const Gpus gpus = probe(host);
  REQUIRE(amd_of(gpus).size() == 2);
  const Gpu& card = amd_of(gpus)[0];
  CHECK(card.in_kfd.is(false));
  CHECK(card.driver.is(""));
  CHECK_FALSE(card.kfd_target.known());
  CHECK(card.target.is("gfx1201"));
  CHECK(card.target_source.is(TargetSource::pci_id));
  CHECK_FALSE(card.compute_units.known());
  const Gpu& integrated = amd_of(gpus)[1];
  CHECK(integrated.target.is("gfx1036"));
  CHECK(integrated.target_source.is(TargetSource::ip_discovery));
  CHECK(integrated.kind.is(GpuKind::integrated));
  CHECK(integrated.name.is("gfx1036 (1002:13c0)"));
  CHECK(gpus.kfd_gpu_nodes.is(0));
}

TEST_CASE("the index of a GPU is its place among those that the runtime sees") {
  MemoryHost host;
  add_kfd_cpu(host, 0);
  add_kfd_node(host, 1, kfd_properties({{"location_id", "3072"}, {"unique_id", "0"}, {"num_xcc", ""}}), 5);
  add_kfd_node(host, 2, kfd_properties({{"unique_id", ""}}), 6);
  add_kfd_node(host, 4, kfd_properties({{"location_id", "1024"}}), 7);
  host.unreadable(kfd_nodes + "2/gpu_id", EPERM);
  const Gpus gpus = probe(host);
  REQUIRE(amd_of(gpus).size() == 3);
  CHECK(amd_of(gpus)[0].id == "0000:0c:00.0");
  CHECK(amd_of(gpus)[0].kfd_index.is(0));
  CHECK(amd_of(gpus)[0].uuid.is(""));
  CHECK(amd_of(gpus)[0].xcc_count.is(1));
  CHECK(amd_of(gpus)[1].kfd_readable.is(false));
  CHECK_FALSE(amd_of(gpus)[1].kfd_index.known());
  CHECK_FALSE(amd_of(gpus)[1].uuid.known());
  CHECK(amd_of(gpus)[2].id == "0000:04:00.0");
  CHECK(amd_of(gpus)[2].kfd_index.is(1));
  CHECK(amd_of(gpus)[2].kfd_node.is(4));
  CHECK(gpus.kfd_gpu_nodes.is(3));
}

TEST_CASE("the public MI300X topology is 8 cards in 63 partitions of 38 compute units") {
  const auto host = load_kfd_tree("mi300x-cpx");
  if (!host) return;
  const Gpus gpus = probe(*host);
  REQUIRE(amd_of(gpus).size() == 63);
  std::size_t cards = 0;
  for (const Gpu& gpu : amd_of(gpus)) {
    CAPTURE(gpu.id);
    if (!contains(gpu.id, "/")) ++cards;
    CHECK(gpu.compute_units.is(38));
    CHECK(gpu.target.is("gfx942"));
    CHECK(gpu.kind.is(GpuKind::discrete));
    CHECK(gpu.doorbell_type.is(2));
    CHECK(gpu.sram_ecc.is(true));
  }
  CHECK(cards == 8);
  CHECK(amd_of(gpus)[0].id == "0000:05:00.0");
  CHECK(amd_of(gpus)[0].uuid.is("GPU-" + hex(16404946649897475633u, 16)));
  CHECK(amd_of(gpus)[1].id == "0000:05:00.0/1");
  CHECK(amd_of(gpus)[1].render_node.is("/dev/dri/renderD129"));
  CHECK(gpus.kfd_gpu_nodes.is(63));
}

TEST_CASE("the public MI308X and MI210 topologies are told card by card") {
  if (const auto host = load_kfd_tree("mi308x")) {
    const Gpus gpus = probe(*host);
    REQUIRE(amd_of(gpus).size() == 32);
    CHECK(amd_of(gpus)[3].id == "0000:0a:00.0/3");
    CHECK(amd_of(gpus)[31].kfd_index.is(31));
  }
  if (const auto host = load_kfd_tree("mi210")) {
    const Gpus gpus = probe(*host);
    REQUIRE(amd_of(gpus).size() == 8);
    for (const Gpu& gpu : amd_of(gpus)) {
      CHECK(gpu.target.is("gfx90a"));
      CHECK(gpu.compute_units.is(104));
      CHECK(gpu.wavefront_size.is(64));
      CHECK_FALSE(contains(gpu.id, "/"));
      CHECK_FALSE(gpu.kfd_readable.known());
      CHECK_FALSE(gpu.vram_bytes.known());
    }
  }
}

TEST_CASE("a GPU of an old kernel takes its target from the PCI table") {
  const auto host = load_kfd_tree("vega10");
  if (!host) return;
  const Gpus gpus = probe(*host);
  REQUIRE(amd_of(gpus).size() == 2);
  CHECK_FALSE(amd_of(gpus)[0].kfd_target.known());
  CHECK(amd_of(gpus)[0].target.is("gfx900"));
  CHECK(amd_of(gpus)[0].target_source.is(TargetSource::pci_id));
  CHECK(amd_of(gpus)[0].vram_bytes.is(17163091968));
  CHECK(amd_of(gpus)[0].compute_units.is(64));
  CHECK(amd_of(gpus)[1].id == amd_of(gpus)[0].id + "/1");
}

TEST_CASE("nodes of one unique id in one slot are partitions of a card, in other slots they are cards") {
  MemoryHost host;
  host.folder("/sys/bus/usb");
  add_kfd_node(host, 0, kfd_properties({{"location_id", "768"}}), 5);
  add_kfd_node(host, 1, kfd_properties({{"location_id", "769"}}), 6);
  add_kfd_node(host, 2, kfd_properties({{"location_id", "1024"}}), 7);
  add_kfd_node(host, 3, kfd_properties({{"location_id", "771"}, {"unique_id", "5"}}), 8);
  const Gpus gpus = probe(host);
  REQUIRE(amd_of(gpus).size() == 4);
  CHECK(amd_of(gpus)[0].id == "0000:03:00.0");
  CHECK(amd_of(gpus)[1].id == "0000:03:00.0/1");
  CHECK(amd_of(gpus)[2].id == "0000:04:00.0");
  CHECK(amd_of(gpus)[3].id == "0000:03:00.3");
}

TEST_CASE("functions of a card that PCI lists are GPUs of their own") {
  MemoryHost host;
  add_kfd_node(host, 0, kfd_properties({{"location_id", "768"}}), 5);
  add_kfd_node(host, 1, kfd_properties({{"location_id", "769"}}), 6);
  add_kfd_node(host, 2, kfd_properties({{"location_id", "268436224"}}), 7);  // 1 << 28 | 768
  add_pci(host, "0000:03:00.0");
  add_pci(host, "0000:03:00.1");
  const Gpus gpus = probe(host);
  REQUIRE(amd_of(gpus).size() == 3);
  CHECK(amd_of(gpus)[1].id == "0000:03:00.1");
  CHECK(amd_of(gpus)[2].id == "0000:03:00.0/1");
}

TEST_CASE("GPUs that KFD hides altogether are matched with the PCI devices that are left, or not at all") {
  MemoryHost host;
  add_kfd_cpu(host, 0);
  add_kfd_node(host, 1, kfd_properties(), 5);
  host.unreadable(kfd_nodes + "1/gpu_id", EPERM).unreadable(kfd_nodes + "1/properties", EPERM);
  host.folder("/sys/bus");
  SUBCASE("as many as are left") {
    add_pci(host, "0000:03:00.0");
    const Gpus gpus = probe(host);
    REQUIRE(amd_of(gpus).size() == 1);
    CHECK(amd_of(gpus)[0].in_kfd.is(true));
    CHECK(amd_of(gpus)[0].kfd_readable.is(false));
    CHECK(amd_of(gpus)[0].target.is("gfx1201"));
  }
  SUBCASE("more are left") {
    add_pci(host, "0000:03:00.0");
    add_pci(host, "0000:04:00.0");
    const Gpus gpus = probe(host);
    REQUIRE(amd_of(gpus).size() == 2);
    CHECK_FALSE(amd_of(gpus)[0].in_kfd.known());
    CHECK_FALSE(amd_of(gpus)[1].in_kfd.known());
  }
  SUBCASE("none is left") {
    const Gpus gpus = probe(host);
    REQUIRE(amd_of(gpus).size() == 1);
    CHECK(amd_of(gpus)[0].id == "kfd:1");
    CHECK(amd_of(gpus)[0].kfd_readable.is(false));
    CHECK_FALSE(amd_of(gpus)[0].target.known());
    CHECK(amd_of(gpus)[0].name.is("AMD GPU"));
  }
}

TEST_CASE("no GPU is an answer only where every place could be looked at") {
  MemoryHost host;
  SUBCASE("nothing of /sys is there") {
    CHECK_FALSE(probe(host).amd.known());
    CHECK_FALSE(probe(host).others.known());
    CHECK_FALSE(probe(host).kfd_gpu_nodes.known());
  }
  SUBCASE("a machine without PCI") {
    host.folder("/sys/bus/usb").folder("/sys/class/net");
    CHECK(amd_of(probe(host)).empty());
    CHECK(probe(host).others.is({}));
    CHECK(probe(host).kfd_gpu_nodes.is(0));
  }
  SUBCASE("other vendors and other classes only") {
    host.folder("/sys/class/net");
    add_pci(host, "0000:00:02.0", {.vendor = "0x8086", .device = "0x4680", .driver = "i915"});
    add_pci(host, "0000:01:00.0", {.vendor = "0x10de", .device = "0x2684", .device_class = "0x030200"});
    add_pci(host, "0000:02:00.0", {.vendor = "0x1af4", .device = "0x1050", .device_class = "0x038000"});
    add_pci(host, "0000:03:00.1", {.device = "0xab40", .device_class = "0x040300"});
    add_pci(host, "0000:04:00.0", {.vendor = "0x1e52", .device = "0xb140", .device_class = "0x120000"});
    const Gpus gpus = probe(host);
    CHECK(amd_of(gpus).empty());
    CHECK(gpus.others.is({"Intel 8086:4680", "NVIDIA 10de:2684", "vendor 1af4:1050"}));
  }
  SUBCASE("a class that can't be read") {
    host.folder("/sys/class/net");
    add_pci(host, "0000:03:00.0");
    host.file(pci + "0000:03:00.0/class", "nonsense");
    CHECK_FALSE(probe(host).amd.known());
  }
  SUBCASE("a KFD that can't be listed") {
    host.folder("/sys/bus/usb").folder("/sys/class/net").unreadable(kfd_nodes.substr(0, kfd_nodes.size() - 1), EACCES);
    CHECK_FALSE(probe(host).amd.known());
    CHECK(probe(host).amd.why_unknown().number == EACCES);
  }
  SUBCASE("PCI is closed but KFD shows a GPU") {
    add_kfd_node(host, 0, kfd_properties(), 5);
    const Gpus gpus = probe(host);
    CHECK(amd_of(gpus).size() == 1);
    CHECK_FALSE(amd_of(gpus)[0].driver.known());
  }
}

TEST_CASE("an Instinct shows itself as an accelerator") {
  MemoryHost host;
  host.folder("/sys/class/net");
  add_pci(host, "0000:05:00.0", {.device = "0x74a1", .device_class = "0x120000", .revision = "0x00"});
  host.file(pci + "0000:05:00.0/mem_info_vram_total", "206141652992\n");
  host.folder(pci + "0000:05:00.0/drm/card1").folder(pci + "0000:05:00.0/drm/renderD128");
  const Gpus gpus = probe(host);
  REQUIRE(amd_of(gpus).size() == 1);
  CHECK(amd_of(gpus)[0].name.is("AMD Instinct MI300X"));
  CHECK(amd_of(gpus)[0].vram_bytes.is(206141652992));
  CHECK(amd_of(gpus)[0].render_node.is("/dev/dri/renderD128"));
}

TEST_CASE("libdrm is asked once, only for what is lacking and only of GPUs that are awake") {
  DrmHost host;
  add_kfd_node(host, 0, kfd_properties({{"device_id", "5056"}}), 5);  // 13c0: no table names it
  add_kfd_node(host, 1, kfd_properties({{"location_id", "1024"}, {"drm_render_minor", "129"}, {"device_id", "5056"}}),
               6);
  add_pci(host, "0000:03:00.0", {.device = "0x13c0"});
  add_pci(host, "0000:04:00.0", {.device = "0x13c0"});
  host.file(pci + "0000:04:00.0/power/runtime_status", "suspended\n");
  host.replies = std::vector<DrmDeviceReply>{{"/dev/dri/renderD128", "0000:03:00.0", "AMD Radeon Graphics", 0},
                                             {"/dev/dri/renderD200", "", "Someone else", 0}};
  const Gpus gpus = probe(host);
  CHECK(host.asked == std::vector<std::vector<std::string>>{{"/dev/dri/renderD128"}});
  CHECK(amd_of(gpus)[0].name.is("AMD Radeon Graphics"));
  CHECK(amd_of(gpus)[1].name.is("gfx1201 (1002:13c0)"));
}

TEST_CASE("a configured target is what the user knows better, unless a GPU has it by itself") {
  MemoryHost host;
  add_kfd_node(host, 0, kfd_properties(), 5);
  add_kfd_node(host, 1, kfd_properties({{"location_id", "1024"}, {"gfx_target_version", "100306"}}), 6);
  const Gpus pointed = probe(host, configured("gfx1201"));
  CHECK(amd_of(pointed)[0].target_source.is(TargetSource::kfd));
  CHECK(amd_of(pointed)[1].target.is("gfx1036"));
  const Gpus forced = probe(host, configured("gfx1310"));
  CHECK(amd_of(forced)[0].target.is("gfx1310"));
  CHECK(amd_of(forced)[1].target_source.is(TargetSource::configured));
  CHECK(amd_of(forced)[1].kfd_target.is("gfx1036"));
}

TEST_CASE("numbers out of range are unknown, the rest of the node is not") {
  MemoryHost host;
  add_kfd_node(host, 0,
               kfd_properties({{"simd_per_cu", "0"},
                               {"gfx_target_version", "4294967296"},
                               {"capability", "99999999999"},
                               {"num_xcc", "x"},
                               {"drm_render_minor", "0"},
                               {"location_id", ""}}),
               5);
  const Gpus gpus = probe(host);
  REQUIRE(amd_of(gpus).size() == 1);
  const Gpu& gpu = amd_of(gpus)[0];
  CHECK(gpu.id == "kfd:0");
  CHECK_FALSE(gpu.compute_units.known());
  CHECK_FALSE(gpu.kfd_target.known());
  CHECK_FALSE(gpu.doorbell_type.known());
  CHECK_FALSE(gpu.sram_ecc.known());
  CHECK_FALSE(gpu.xcc_count.known());
  CHECK_FALSE(gpu.render_node.known());
  CHECK(gpu.wavefront_size.is(32));
  CHECK(gpu.table_target.is("gfx1201"));
}

TEST_CASE("an APU of the time before IP discovery is integrated") {
  MemoryHost host;
  add_kfd_node(host, 0, kfd_properties({{"cpu_cores_count", "8"}, {"device_id", "65535"}}), 5);
  CHECK(amd_of(probe(host))[0].kind.is(GpuKind::integrated));
}

TEST_CASE("under WSL the adapters of /dev/dxg are the GPUs") {
  DxgAdapter other;
  other.vendor_id = 0x10deu;
  other.device_id = 0x2684u;
  const Gpus gpus = probe_wsl2(std::vector<DxgAdapter>{other, amd_adapter()});
  REQUIRE(amd_of(gpus).size() == 1);
  const Gpu& gpu = amd_of(gpus)[0];
  CHECK(gpu.id == "dxg:0");
  CHECK(gpu.target.is("gfx1201"));
  CHECK(gpu.target_source.is(TargetSource::dxg_pci_id));
  CHECK(gpu.name.is("AMD Radeon RX 9070 XT"));
  CHECK(gpu.kind.is(GpuKind::discrete));
  CHECK(gpu.vram_bytes.is(17095983104));
  CHECK_FALSE(gpu.in_kfd.known());
  CHECK_FALSE(gpu.driver.known());
  CHECK(gpus.others.is({"NVIDIA 10de:2684"}));
  CHECK_FALSE(gpus.kfd_gpu_nodes.known());
}

TEST_CASE("under WSL no GPU is an answer only when /dev/dxg gave it") {
  CHECK(amd_of(probe_wsl2(std::vector<DxgAdapter>{})).empty());
  CHECK_FALSE(probe_wsl2(Fact<std::vector<DxgAdapter>>::unknown(Error{ETIMEDOUT, "hung"})).amd.known());
  CHECK_FALSE(probe_wsl2(std::vector<DxgAdapter>{DxgAdapter{}}).amd.known());
  DxgAdapter integrated = amd_adapter();
  integrated.device_id = 0xfff0u;
  integrated.name = Fact<std::string>::unknown("silent");
  integrated.hybrid_integrated = true;
  const Gpus gpus = probe_wsl2(std::vector<DxgAdapter>{DxgAdapter{}, integrated});
  REQUIRE(amd_of(gpus).size() == 1);
  CHECK(amd_of(gpus)[0].kind.is(GpuKind::integrated));
  CHECK_FALSE(amd_of(gpus)[0].target.known());
  CHECK(amd_of(gpus)[0].name.is("AMD GPU (1002:fff0)"));
}

}  // namespace sage
