#include <doctest/doctest.h>

#include "probes/base/text.hpp"
#include "tests/support/sample_facts.hpp"

namespace sage {
namespace {

using namespace std::string_literals;

using test::commands_of;
using test::finding_of;
using test::findings_of;
using test::healthy_facts;

constexpr auto driver_ids = {"driver.blacklisted", "driver.secure-boot", "driver.module-loaded", "driver.firmware",
                             "driver.gpu-unbound", "driver.kfd-node",    "driver.dkms",          "driver.kernel-log"};

Gpu& first_gpu(Facts& facts) {
  return facts.gpus.amd.value().front();
}

Facts not_loaded() {
  Facts facts = healthy_facts();
  facts.driver.loaded = false;
  facts.driver.kfd_topology = false;
  first_gpu(facts).driver = ""s;
  first_gpu(facts).in_kfd = false;
  return facts;
}

Facts blacklisted_by(std::string file) {
  Facts facts = not_loaded();
  Blacklisting entry;
  entry.file = std::move(file);
  entry.line = entry.file == "/proc/cmdline" ? 0 : 3;
  entry.text = entry.file == "/proc/cmdline" ? "modprobe.blacklist=amdgpu" : "blacklist amdgpu";
  facts.driver.blacklist = std::vector<Blacklisting>{entry};
  return facts;
}

}  // namespace

TEST_CASE("a healthy machine passes every driver check") {
  for (const char* id : driver_ids) {
    CAPTURE(id);
    CHECK(finding_of(id, healthy_facts()).status == Status::pass);
  }
}

TEST_CASE("on WSL2 and without an AMD GPU no driver check speaks") {
  Facts wsl = healthy_facts();
  wsl.platform.kind = PlatformKind::wsl2;
  Facts none = healthy_facts();
  none.gpus.amd = std::vector<Gpu>{};
  for (const char* id : driver_ids) {
    CAPTURE(id);
    CHECK(finding_of(id, wsl).status == Status::skip);
    CHECK(finding_of(id, none).status == Status::skip);
  }
}

TEST_CASE("an unknown list of GPUs or kind of platform is no verdict") {
  for (const char* id : driver_ids) {
    CAPTURE(id);
    Facts facts = healthy_facts();
    facts.gpus.amd = Fact<std::vector<Gpu>>::unknown("blanked");
    CHECK(finding_of(id, facts).status == Status::skip);
    facts = healthy_facts();
    facts.platform.kind = Fact<PlatformKind>::unknown("blanked");
    CHECK(finding_of(id, facts).status == Status::skip);
  }
}

TEST_CASE("a blacklisted amdgpu fails when it is not loaded and warns when it is") {
  Facts facts = blacklisted_by("/etc/modprobe.d/gpu.conf");
  const Finding finding = finding_of("driver.blacklisted", facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(commands_of(finding), "+3 /etc/modprobe.d/gpu.conf"));
  CHECK(contains(commands_of(finding), "update-initramfs"));
  facts.driver.loaded = true;
  CHECK(finding_of("driver.blacklisted", facts).status == Status::warn);
}

TEST_CASE("modprobe.d of a container says nothing about the host, its kernel command line does") {
  const Facts file = test::in_a_container(blacklisted_by("/etc/modprobe.d/gpu.conf"), ContainerKind::docker);
  CHECK(finding_of("driver.blacklisted", file).status == Status::pass);
  const Facts argument = test::in_a_container(blacklisted_by("/proc/cmdline"), ContainerKind::docker);
  CHECK(finding_of("driver.blacklisted", argument).status == Status::fail);
}

TEST_CASE("the remedy for a kernel argument follows the distribution") {
  Facts facts = blacklisted_by("/proc/cmdline");
  CHECK(contains(commands_of(finding_of("driver.blacklisted", facts)), "sudo update-grub"));
  facts.platform.distribution.id = "fedora"s;
  CHECK(contains(commands_of(finding_of("driver.blacklisted", facts)),
                 "grubby --update-kernel=ALL --remove-args=modprobe.blacklist=amdgpu"));
}

TEST_CASE("Secure Boot fails on an unsigned DKMS module or on a rejection in the log") {
  Facts facts = not_loaded();
  CHECK(finding_of("driver.secure-boot", facts).status == Status::skip);
  facts.platform.secure_boot = true;
  facts.driver.origin = ModuleOrigin::dkms;
  facts.driver.module_signed = false;
  CHECK(finding_of("driver.secure-boot", facts).status == Status::fail);
  facts.driver.module_signed = Fact<bool>::unknown("compressed");
  CHECK(finding_of("driver.secure-boot", facts).status == Status::skip);
  facts.driver.log = std::vector<std::string>{"Loading of module with unavailable key is rejected"};
  CHECK(finding_of("driver.secure-boot", facts).status == Status::fail);
}

TEST_CASE("a module that DKMS has installed without a signature is built again by its package") {
  Facts facts = not_loaded();
  facts.platform.secure_boot = true;
  facts.driver.origin = ModuleOrigin::dkms;
  facts.driver.module_signed = false;
  CHECK(contains(commands_of(finding_of("driver.secure-boot", facts)), "dpkg-reconfigure amdgpu-dkms"));
  facts.platform.distribution.id = "rhel"s;
  facts.platform.distribution.id_like = "fedora"s;
  CHECK(contains(commands_of(finding_of("driver.secure-boot", facts)), "dnf reinstall amdgpu-dkms"));
}

TEST_CASE("a rejected module is not amdgpu when amdgpu is the distribution's own") {
  Facts facts = not_loaded();
  facts.platform.secure_boot = true;
  facts.driver.log = std::vector<std::string>{"Loading of unsigned module is rejected"};
  CHECK(finding_of("driver.secure-boot", facts).status == Status::skip);
}

TEST_CASE("a module that is not loaded fails with the cause that the facts show") {
  Facts facts = not_loaded();
  CHECK(finding_of("driver.module-loaded", facts).status == Status::fail);
  CHECK(contains(commands_of(finding_of("driver.module-loaded", facts)), "modprobe amdgpu"));
  facts.driver.module_available = false;
  CHECK(contains(commands_of(finding_of("driver.module-loaded", facts)), "linux-modules-extra"));
  facts.platform.distribution.version_id = "26.04"s;
  CHECK(contains(commands_of(finding_of("driver.module-loaded", facts)), "--reinstall linux-modules-$(uname -r)"));
  facts.driver.kernel_arguments = std::vector<std::string>{"nomodeset"};
  CHECK(contains(finding_of("driver.module-loaded", facts).cause, "nomodeset"));
}

TEST_CASE("no amdgpu is needed while another driver has every GPU") {
  Facts facts = not_loaded();
  first_gpu(facts).driver = "vfio-pci"s;
  CHECK(finding_of("driver.module-loaded", facts).status == Status::skip);
  CHECK(finding_of("driver.gpu-unbound", facts).status == Status::fail);
}

TEST_CASE("a GPU set aside for a virtual machine only warns while another one works") {
  Facts facts = healthy_facts();
  facts.gpus.amd.value().push_back(test::integrated_gpu());
  facts.gpus.amd.value()[0].driver = "vfio-pci"s;
  const auto findings = findings_of("driver.gpu-unbound", facts);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].status == Status::warn);
  CHECK(findings[0].subject == "0000:03:00.0");
  CHECK(findings[1].status == Status::pass);
}

TEST_CASE("an old kernel is a likely cause of an unbound GPU, never the reason to fail") {
  Facts facts = healthy_facts();
  facts.platform.kernel_release = "5.15.0-91-generic"s;
  CHECK(finding_of("driver.gpu-unbound", facts).status == Status::pass);
  first_gpu(facts).driver = ""s;
  const Finding finding = finding_of("driver.gpu-unbound", facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "5.15.0-91-generic"));
  CHECK(finding.confidence == Confidence::likely);
  CHECK(contains(commands_of(finding), "linux-generic-hwe-24.04"));
}

TEST_CASE("a newer kernel is recommended only from where there is one") {
  Facts facts = healthy_facts();
  facts.platform.kernel_release = "5.15.0-91-generic"s;
  first_gpu(facts).driver = ""s;
  const auto commands = [&](const char* id, const char* version, const char* like) {
    facts.platform.distribution.id = std::string(id);
    facts.platform.distribution.version_id = std::string(version);
    facts.platform.distribution.id_like = std::string(like);
    return commands_of(finding_of("driver.gpu-unbound", facts));
  };
  // The HWE kernel of 22.04 ends below what RDNA4 needs, and interim releases have none.
  CHECK_FALSE(contains(commands("ubuntu", "22.04", "debian"), "hwe"));
  CHECK_FALSE(contains(commands("ubuntu", "24.10", "debian"), "hwe"));
  CHECK(contains(commands("debian", "12", ""), "backports"));
  CHECK_FALSE(contains(commands("linuxmint", "22", "ubuntu debian"), "backports"));
  CHECK_FALSE(contains(commands("rhel", "9.4", "fedora"), "dnf upgrade"));
  CHECK(contains(commands("fedora", "42", ""), "dnf upgrade"));
}

TEST_CASE("a blacklist that a package brings is hidden, one of the user is edited") {
  Facts facts = healthy_facts();
  facts.driver.loaded = false;
  facts.driver.blacklist = std::vector<Blacklisting>{{"/usr/lib/modprobe.d/blacklist-gpu.conf", 3, "blacklist amdgpu"}};
  CHECK(contains(commands_of(finding_of("driver.blacklisted", facts)),
                 "sudo ln -s /dev/null /etc/modprobe.d/blacklist-gpu.conf"));
  facts.driver.blacklist = std::vector<Blacklisting>{{"/etc/modprobe.d/mine.conf", 3, "blacklist amdgpu"}};
  CHECK(contains(commands_of(finding_of("driver.blacklisted", facts)), "sudo ${EDITOR:-nano} +3"));
}

TEST_CASE("a GPU without KFD node fails, and the log decides the cause") {
  Facts facts = healthy_facts();
  first_gpu(facts).in_kfd = false;
  CHECK(finding_of("driver.kfd-node", facts).status == Status::fail);
  facts.driver.log = std::vector<std::string>{"kfd kfd: amdgpu: skipped device 1002:7550, PCI rejects atomics 494<509"};
  CHECK(contains(finding_of("driver.kfd-node", facts).cause, "firmware"));
  facts.driver.log = std::vector<std::string>{"kfd kfd: amdgpu: GC IP 0c0001 not supported in kfd"};
  CHECK(finding_of("driver.kfd-node", facts).confidence == Confidence::certain);
  facts.driver.kfd_topology = false;
  CHECK(contains(finding_of("driver.kfd-node", facts).cause, "CONFIG_HSA_AMD"));
}

TEST_CASE("an integrated GPU that KFD leaves out only warns beside one that works") {
  Facts facts = healthy_facts();
  Gpu second = test::integrated_gpu();
  second.in_kfd = false;
  facts.gpus.amd.value().push_back(second);
  CHECK(findings_of("driver.kfd-node", facts)[1].status == Status::warn);
  facts.gpus.amd.value()[0].in_kfd = false;
  CHECK(findings_of("driver.kfd-node", facts)[1].status == Status::fail);
}

TEST_CASE("a failed firmware load fails for an unbound GPU, warns for a bound one, and names the right GPU") {
  Facts facts = healthy_facts();
  facts.driver.log = std::vector<std::string>{
      "amdgpu 0000:03:00.0: Direct firmware load for amdgpu/gc_12_0_1_pfp.bin failed with error -2"};
  CHECK(finding_of("driver.firmware", facts).status == Status::warn);
  first_gpu(facts).driver = ""s;
  CHECK(finding_of("driver.firmware", facts).status == Status::fail);
  first_gpu(facts).id = "0000:04:00.0"s;
  CHECK(finding_of("driver.firmware", facts).status == Status::pass);
}

TEST_CASE("missing firmware files warn from GC 11 on, except in a container") {
  Facts facts = healthy_facts();
  facts.driver.gc_firmware = std::vector<std::string>{"gc_12_0_0_me", "gc_11_0_0_me"};
  CHECK(finding_of("driver.firmware", facts).status == Status::warn);
  CHECK(finding_of("driver.firmware", test::in_a_container(facts, ContainerKind::docker)).status == Status::pass);
  first_gpu(facts).gc_version = "10.3.0"s;
  CHECK(finding_of("driver.firmware", facts).status == Status::pass);
}

TEST_CASE("DKMS warns when it has amdgpu for other kernels only") {
  Facts facts = healthy_facts();
  DkmsBuild build;
  build.version = "6.12.12-2194681.24.04"s;
  build.kernel = "6.8.0-51-generic"s;
  facts.driver.dkms = std::vector<DkmsBuild>{build};
  CHECK(finding_of("driver.dkms", facts).status == Status::warn);
  facts.driver.dkms.value()[0].kernel = "6.14.0-37-generic"s;
  CHECK(finding_of("driver.dkms", facts).status == Status::pass);
}

TEST_CASE("the kernel log warns of resets and timeouts and is no verdict when it can't be read") {
  Facts facts = healthy_facts();
  for (const char* line : {"amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
                           "amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3",
                           "amdgpu 0000:03:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0018 address=0x0]",
                           "amdgpu 0000:03:00.0: amdgpu: MES failed to respond to msg=SET_HW_RSRC"}) {
    CAPTURE(line);
    facts.driver.log = std::vector<std::string>{line};
    CHECK(finding_of("driver.kernel-log", facts).status == Status::warn);
  }
  facts.driver.log = Fact<std::vector<std::string>>::unknown("Operation not permitted");
  CHECK(finding_of("driver.kernel-log", facts).status == Status::skip);
}

}  // namespace sage
