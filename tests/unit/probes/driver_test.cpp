#include "probes/driver.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "probes/modprobe.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

constexpr const char* modules = "/lib/modules/6.14.0-37-generic/";
constexpr const char* in_tree = "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko";

Platform platform(ContainerKind container = ContainerKind::none, PlatformKind kind = PlatformKind::bare_metal) {
  Platform platform;
  platform.kind = kind;
  platform.container = container;
  platform.kernel_release = std::string("6.14.0-37-generic");
  return platform;
}

MemoryHost ubuntu() {
  MemoryHost host;
  host.folder("/sys/module/amdgpu");
  host.file(std::string(modules) + in_tree + ".zst", "");
  host.file("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet splash\n");
  return host;
}

std::vector<std::string> lines_of(const std::vector<Blacklisting>& found) {
  std::vector<std::string> texts;
  for (const Blacklisting& line : found) texts.push_back(line.file + ":" + std::to_string(line.line) + " " + line.text);
  return texts;
}

}  // namespace

TEST_CASE("a loaded in-tree driver is found without a walk through the modules") {
  const MemoryHost host = ubuntu();
  const Driver driver = probe_driver(host, platform());
  CHECK(driver.loaded.is(true));
  CHECK(driver.version.is(""));
  CHECK(driver.module_available.is(true));
  CHECK(driver.module_path.is(std::string(modules) + in_tree + ".zst"));
  CHECK(driver.origin.is(ModuleOrigin::in_tree));
  CHECK(driver.module_signed.why_unknown().text.find("compressed") != std::string::npos);
  CHECK(driver.blacklist->empty());
  CHECK(driver.kernel_arguments->empty());
  CHECK(driver.dkms->empty());
  CHECK(driver.kfd_topology.is(false));
  for (const std::string& folder : host.listed) CHECK(folder.find("/lib/modules") == std::string::npos);
}

TEST_CASE("the DKMS module goes before the kernel's own, and its signature is looked for") {
  MemoryHost host = ubuntu();
  const std::string path = std::string(modules) + "updates/dkms/amdgpu.ko";
  host.file(path, "ELF...~Module signature appended~\n").file("/sys/module/amdgpu/version", "6.16.6\n");
  Driver driver = probe_driver(host, platform());
  CHECK(driver.origin.is(ModuleOrigin::dkms));
  CHECK(driver.module_path.is(path));
  CHECK(driver.module_signed.is(true));
  CHECK(driver.version.is("6.16.6"));

  host.file(path, "~Module signature appended~\n and more");
  CHECK(probe_driver(host, platform()).module_signed.is(false));
  host.unreadable(path, EACCES);
  CHECK(probe_driver(host, platform()).module_signed.why_unknown().number == EACCES);
}

TEST_CASE("a built-in driver has no file; a module in an unusual folder is found by depmod's index") {
  MemoryHost host;
  host.file(std::string(modules) + "modules.builtin", std::string("kernel/a.ko\n") + in_tree + "\n");
  Driver driver = probe_driver(host, platform());
  CHECK(driver.module_available.is(true));
  CHECK(driver.module_path.is(""));
  CHECK(driver.origin.is(ModuleOrigin::built_in));

  MemoryHost indexed;
  indexed.file(
      std::string(modules) + "modules.dep",
      "kernel/x.ko: extra/vendor/amdgpu.ko.xz\nextra/my-amdgpu.ko:\nextra/vendor/amdgpu.ko.xz: kernel/ttm.ko\n");
  driver = probe_driver(indexed, platform());
  CHECK(driver.module_path.is(std::string(modules) + "extra/vendor/amdgpu.ko.xz"));
  CHECK(driver.origin.is(ModuleOrigin::dkms));
}

TEST_CASE("a module is said to be missing only where the kernel's folder could be seen") {
  MemoryHost without;
  without.file(std::string(modules) + "modules.dep", "kernel/x.ko:\n");
  CHECK(probe_driver(without, platform()).module_available.is(false));

  MemoryHost replaced_kernel;  // the running kernel's folder was removed by an update
  replaced_kernel.folder("/lib/modules/6.15.1");
  CHECK(probe_driver(replaced_kernel, platform()).module_available.is(false));

  const auto unknown = [](const MemoryHost& host, const Platform& where) {
    return probe_driver(host, where).module_available.why_unknown().text;
  };
  CHECK(unknown(without, platform(ContainerKind::docker)).find("inside a container") != std::string::npos);
  CHECK(unknown(MemoryHost(), platform()).find("/lib/modules") != std::string::npos);
  MemoryHost loaded = without;
  loaded.folder("/sys/module/amdgpu");
  CHECK(unknown(loaded, platform()).find("is loaded") != std::string::npos);
  MemoryHost unreadable = without;
  unreadable.unreadable(std::string(modules) + "modules.dep", EACCES);
  CHECK(unknown(unreadable, platform()).find("modules.dep") != std::string::npos);
  Platform odd = platform();
  odd.kernel_release = std::string("../../etc");
  CHECK(unknown(without, odd).find("no folder name") != std::string::npos);
}

TEST_CASE("blacklist and install lines are told from comments and from other modules") {
  CHECK(lines_of(blacklist_lines("# blacklist amdgpu\nblacklist amdgpu # why\n  install\tamdgpu /bin/false\n"
                                 "install amdgpu /sbin/modprobe --ignore-install amdgpu\nblacklist amdgpu_old\n"
                                 "blacklist nouveau\noptions amdgpu si_support=1\ninstall amdgpu\n",
                                 "f")) ==
        std::vector<std::string>{"f:2 blacklist amdgpu # why", "f:3 install\tamdgpu /bin/false"});
  CHECK(lines_of(blacklist_lines("\nblacklist \\\n amdgpu\ninstall amdgpu /usr/bin/true", "f")).size() == 2);
  CHECK(blacklist_lines("\nblacklist \\\n amdgpu\n", "f").at(0).line == 2);
  CHECK(blacklist_lines("blacklist amdgpu\\", "f").size() == 1);
}

TEST_CASE("a modprobe.d file hides those of its name in lower folders") {
  MemoryHost host = ubuntu();
  host.file("/usr/lib/modprobe.d/gpu.conf", "blacklist amdgpu\n");
  host.file("/usr/lib/modprobe.d/gpu.conf.bak", "blacklist amdgpu\n");
  CHECK(probe_driver(host, platform()).blacklist->size() == 1);
  host.file("/etc/modprobe.d/gpu.conf", "# nothing\n");
  CHECK(probe_driver(host, platform()).blacklist->empty());
  host.link("/etc/modprobe.d/gpu.conf", "/dev/null").device("/dev/null", 0666, 0, 0);
  CHECK(probe_driver(host, platform()).blacklist->empty());
}

TEST_CASE("kernel arguments blacklist too, and those about GPUs are kept") {
  MemoryHost host = ubuntu();
  host.file("/proc/cmdline",
            "root=UUID=secret modprobe.blacklist=nouveau,amdgpu nomodeset nomodesetx amdgpu.dc=0 "
            "module_blacklist=amdgpux quiet\n");
  const Driver driver = probe_driver(host, platform());
  CHECK(lines_of(*driver.blacklist) == std::vector<std::string>{"/proc/cmdline:0 modprobe.blacklist=nouveau,amdgpu"});
  CHECK(*driver.kernel_arguments == std::vector<std::string>{"modprobe.blacklist=nouveau,amdgpu", "nomodeset",
                                                             "amdgpu.dc=0", "module_blacklist=amdgpux"});
}

TEST_CASE("no blacklisting is known only when every place was read") {
  MemoryHost host = ubuntu();
  host.unreadable("/etc/modprobe.d/secret.conf", EACCES);
  CHECK(probe_driver(host, platform()).blacklist.why_unknown().number == EACCES);
  host.file("/run/modprobe.d/a.conf", "blacklist amdgpu\n");
  CHECK(probe_driver(host, platform()).blacklist->size() == 1);

  CHECK_FALSE(probe_driver(ubuntu(), platform(ContainerKind::podman)).blacklist.known());
  MemoryHost no_arguments = ubuntu();
  no_arguments.entries.erase("/proc/cmdline");
  CHECK_FALSE(probe_driver(no_arguments, platform()).blacklist.known());
}

TEST_CASE("DKMS versions are listed with the kernels they were built for") {
  MemoryHost host = ubuntu();
  host.folder("/var/lib/dkms/amdgpu/6.16.6-1/6.14.0-37-generic/x86_64/module");
  host.folder("/var/lib/dkms/amdgpu/6.16.6-1/build");
  host.link("/var/lib/dkms/amdgpu/6.16.6-1/source", "/usr/src/amdgpu-6.16.6-1");
  host.link("/var/lib/dkms/amdgpu/kernel-6.14.0-37-generic-x86_64", "6.16.6-1/6.14.0-37-generic/x86_64");
  host.folder("/var/lib/dkms/amdgpu/6.12.0/6.11.0-1/x86_64/log");
  const auto builds = *probe_driver(host, platform()).dkms;
  REQUIRE(builds.size() == 2);
  CHECK(builds[0].version == "6.12.0");
  CHECK(builds[0].kernel == "");
  CHECK(builds[1].version == "6.16.6-1");
  CHECK(builds[1].kernel == "6.14.0-37-generic");
  CHECK_FALSE(probe_driver(host, platform(ContainerKind::docker)).dkms.known());
}

TEST_CASE("firmware names lose their endings, and one unreadable folder makes the list unknown") {
  MemoryHost host = ubuntu();
  for (const char* name :
       {"gc_12_0_1_me.bin.zst", "gc_11_0_0_pfp.bin.xz", "gc_12_0_1_me.bin", "navi10_ce.bin", "gc_readme"}) {
    host.file(std::string("/lib/firmware/amdgpu/") + name, "");
  }
  host.file("/lib/firmware/updates/amdgpu/gc_9_4_3_rlc.bin", "");
  host.file("/sys/module/firmware_class/parameters/path", "/nix/firmware\n")
      .file("/nix/firmware/amdgpu/gc_1_me.bin", "");
  CHECK(*probe_driver(host, platform()).gc_firmware ==
        std::vector<std::string>{"gc_11_0_0_pfp", "gc_12_0_1_me", "gc_1_me", "gc_9_4_3_rlc"});
  CHECK_FALSE(probe_driver(host, platform(ContainerKind::lxc)).gc_firmware.known());
  host.unreadable("/lib/firmware/updates/amdgpu", EACCES);
  CHECK(probe_driver(host, platform()).gc_firmware.why_unknown().number == EACCES);
  CHECK(probe_driver(ubuntu(), platform()).gc_firmware->empty());
}

TEST_CASE("the last 400 kernel log lines that matter are kept in their order") {
  MemoryHost host = ubuntu();
  host.messages->push_back("amdgpu: first");
  for (int i = 0; i < 400; ++i) {
    host.messages->push_back("usb 1-1: new device");
    host.messages->push_back("amdgpu: " + std::to_string(i));
  }
  const auto log = *probe_driver(host, platform()).log;
  REQUIRE(log.size() == 400);
  CHECK(log.front() == "amdgpu: 0");
  CHECK(log.back() == "amdgpu: 399");
  host.messages = system_error(EPERM, "/dev/kmsg");
  CHECK(probe_driver(host, platform()).log.why_unknown().number == EPERM);
}

TEST_CASE("on WSL nothing but the kernel log is read") {
  MemoryHost host = ubuntu();
  host.messages->push_back("misc dxg: dxgk: dxgkio_query_adapter_info: Ioctl failed: -22");
  const Driver driver = probe_driver(host, platform(ContainerKind::none, PlatformKind::wsl2));
  CHECK(driver.loaded.why_unknown().text == "WSL2 has no amdgpu driver");
  CHECK_FALSE(driver.kernel_arguments.known());
  CHECK_FALSE(driver.kfd_topology.known());
  CHECK(driver.log->size() == 1);
  CHECK(host.read.empty());
  CHECK(host.listed.empty());
}

TEST_CASE("a driver that is not loaded has no version, and a hidden /sys leaves it unknown") {
  MemoryHost host = ubuntu();
  host.entries.erase("/sys/module/amdgpu");
  CHECK(probe_driver(host, platform()).loaded.is(false));
  CHECK_FALSE(probe_driver(host, platform()).version.known());
  host.failing("/sys/module/amdgpu", EACCES);
  CHECK(probe_driver(host, platform()).loaded.why_unknown().number == EACCES);
}

}  // namespace sage
