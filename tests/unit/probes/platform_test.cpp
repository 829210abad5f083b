#include "probes/platform.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "probes/os_release.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

constexpr const char* efi_variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

/// A plain PC: no hypervisor, no container.
MemoryHost plain() {
  MemoryHost host;
  host.file("/proc/sys/kernel/osrelease", "6.14.0-37-generic\n");
  host.file("/proc/cpuinfo",
            "processor\t: 0\nmodel name\t: AMD Ryzen 7 9800X3D\nmodel\t\t: 68\nflags\t\t: fpu lm svm\n\n"
            "processor\t: 1\nmodel name\t: second\nflags\t\t: fpu hypervisor\n");
  host.file("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
  host.file("/proc/1/cgroup", "0::/init.scope\n");
  host.identity.effective_uid = 1000;
  return host;
}

MemoryHost with_release(const char* release) {
  MemoryHost host = plain();
  host.file("/proc/sys/kernel/osrelease", release);
  return host;
}

}  // namespace

TEST_CASE("the kernel's release tells WSL1 from WSL2 by the case of one letter") {
  CHECK(probe_platform(with_release("4.4.0-19041-Microsoft\n")).kind.is(PlatformKind::wsl1));
  const Platform wsl2 = probe_platform(with_release("6.6.87.2-microsoft-standard-WSL2\n"));
  CHECK(wsl2.kind.is(PlatformKind::wsl2));
  CHECK(wsl2.hypervisor.is("microsoft"));
  CHECK(wsl2.kernel_release.is("6.6.87.2-microsoft-standard-WSL2"));
  CHECK(wsl2.secure_boot.is(false));
}

TEST_CASE("a kernel of one's own is WSL2 by its files, and a GPU-PV guest when only /dev/dxg is there") {
  MemoryHost by_folder = plain();
  by_folder.folder("/run/WSL");
  CHECK(probe_platform(by_folder).kind.is(PlatformKind::wsl2));

  MemoryHost by_variable = plain();
  by_variable.variables["WSL_INTEROP"] = "/run/WSL/8_interop";
  CHECK(probe_platform(by_variable).kind.is(PlatformKind::wsl2));

  MemoryHost guest = plain();
  guest.device("/dev/dxg", 0666, 0, 0);
  CHECK(probe_platform(guest).kind.is(PlatformKind::gpu_pv_guest));
  guest.folder("/usr/lib/wsl");
  CHECK(probe_platform(guest).kind.is(PlatformKind::wsl2));

  MemoryHost leftover = plain();
  leftover.folder("/usr/lib/wsl");
  CHECK(probe_platform(leftover).kind.is(PlatformKind::bare_metal));
}

TEST_CASE("without the kernel's release, or a look at /dev/dxg, the kind of machine is unknown") {
  MemoryHost no_release = plain();
  no_release.failing("/proc/sys/kernel/osrelease", EACCES);
  CHECK(probe_platform(no_release).kind.why_unknown().number == EACCES);

  MemoryHost no_dxg = plain();
  no_dxg.failing("/dev/dxg", EIO);
  CHECK(probe_platform(no_dxg).kind.why_unknown().number == EIO);
}

TEST_CASE("a virtual machine shows by the CPU's flag, by firmware names, or by Xen's folder") {
  CHECK(probe_platform(plain()).kind.is(PlatformKind::bare_metal));
  CHECK(probe_platform(plain()).hypervisor.is(""));
  CHECK(probe_platform(plain()).cpu_model.is("AMD Ryzen 7 9800X3D"));

  MemoryHost flagged = plain();
  flagged.file("/proc/cpuinfo", "flags : fpu hypervisor lm\n");
  CHECK(probe_platform(flagged).kind.is(PlatformKind::virtual_machine));
  CHECK_FALSE(probe_platform(flagged).hypervisor.known());
  CHECK_FALSE(probe_platform(flagged).cpu_model.known());

  MemoryHost hidden_flag = plain();
  hidden_flag.file("/sys/class/dmi/id/sys_vendor", "QEMU\n").file("/sys/class/dmi/id/product_name", "Q35\n");
  CHECK(probe_platform(hidden_flag).kind.is(PlatformKind::virtual_machine));
  CHECK(probe_platform(hidden_flag).hypervisor.is("kvm"));

  MemoryHost xen = plain();
  xen.file("/sys/hypervisor/type", "xen\n");
  CHECK(probe_platform(xen).hypervisor.is("xen"));
}

TEST_CASE("a cloud's name means a virtual machine only together with the CPU's flag") {
  MemoryHost host = plain();
  host.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n").file("/sys/class/dmi/id/product_name", "m7a.metal-48xl\n");
  CHECK(probe_platform(host).kind.is(PlatformKind::bare_metal));
  host.file("/proc/cpuinfo", "flags : hypervisor\n");
  CHECK(probe_platform(host).hypervisor.is("amazon"));
}

TEST_CASE("no place that could name a hypervisor leaves the kind unknown") {
  MemoryHost host = plain();
  host.failing("/proc/cpuinfo", EACCES);
  CHECK_FALSE(probe_platform(host).kind.known());
  host.file("/sys/class/dmi/id/sys_vendor", "ASUS\n");
  CHECK(probe_platform(host).kind.is(PlatformKind::bare_metal));
}

TEST_CASE("sizes of /proc/meminfo become bytes") {
  MemoryHost host = plain();
  host.file("/proc/meminfo", "MemTotal:       65000 kB\nMemAvailable:    100 kB\nSwapTotal: 8 kB\nSwapFree: x kB\n");
  host.filesystem_sizes["/dev/shm"] = 67108864;
  const Platform platform = probe_platform(host);
  CHECK(platform.memory_total.is(65000u * 1024));
  CHECK(platform.memory_available.is(100u * 1024));
  CHECK(platform.swap_total.is(8192));
  CHECK_FALSE(platform.swap_free.known());
  CHECK(platform.memory_limit.is(65000u * 1024));
  CHECK(platform.shm_size.is(67108864));
  CHECK_FALSE(probe_platform(plain()).memory_total.known());

  host.file("/proc/meminfo", "MemTotal: 18014398509481985 kB\n");
  CHECK_FALSE(probe_platform(host).memory_total.known());
}

TEST_CASE("the memory limit is the smallest on the way from the process's control group to the root") {
  MemoryHost host = plain();
  host.file("/proc/meminfo", "MemTotal: 1000000 kB\n");
  host.file("/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope/memory.max", "max\n");
  host.file("/sys/fs/cgroup/user.slice/memory.max", "4096\n");
  CHECK(probe_platform(host).memory_limit.is(4096));

  host.file("/sys/fs/cgroup/user.slice/memory.max", "a lot\n");
  CHECK_FALSE(probe_platform(host).memory_limit.known());
}

TEST_CASE("version 1 control groups and containers without a namespace of their own have their limit at the root") {
  MemoryHost old = plain();
  old.file("/proc/meminfo", "MemTotal: 1000000 kB\n");
  old.file("/proc/self/cgroup", "9:cpu,memory:/job\n4:pids:/\n0::/\n");
  old.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(probe_platform(old).memory_limit.is(1000000u * 1024));
  old.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
  CHECK(probe_platform(old).memory_limit.is(8192));

  MemoryHost outside = plain();
  outside.file("/proc/meminfo", "MemTotal: 1000000 kB\n");
  outside.file("/proc/self/cgroup", "0::/../../etc\n");
  outside.file("/sys/fs/cgroup/memory.max", "16384\n");
  outside.file("/sys/fs/cgroup/../../etc/memory.max", "1\n");
  CHECK(probe_platform(outside).memory_limit.is(16384));
}

TEST_CASE("os-release is read with the quoting of the shell") {
  const auto values = parse_os_release(
      "# ID=comment\nID=debian\nPRETTY_NAME=\"Debian \\\"12\\\" \\n\"\nVERSION_ID='12'\n nonsense\nID_LIKE=a\\ "
      "b\nID=ubuntu\n");
  CHECK(values.at("ID") == "ubuntu");
  CHECK(values.at("PRETTY_NAME") == "Debian \"12\" \\n");
  CHECK(values.at("VERSION_ID") == "12");
  CHECK(values.at("ID_LIKE") == "a b");
  CHECK(values.size() == 4);
}

TEST_CASE("the distribution comes from /usr/lib when /etc has no os-release") {
  MemoryHost host = plain();
  CHECK(probe_platform(host).distribution.id.why_unknown().number == ENOENT);
  host.file("/usr/lib/os-release", "ID=arch\n");
  const Distribution distribution = probe_platform(host).distribution;
  CHECK(distribution.id.is("arch"));
  CHECK(distribution.version_id.is(""));
  host.failing("/etc/os-release", EACCES);
  CHECK(probe_platform(host).distribution.id.why_unknown().number == EACCES);
}

TEST_CASE("the version of libstdc++ is in the name of the file that the loader's entry leads to") {
  MemoryHost host = plain();
  CHECK_FALSE(probe_platform(host).libstdcxx_version.known());
  host.cache =
      std::vector<LoaderCacheEntry>{{"libc.so.6", "/lib/libc.so.6"}, {"libstdc++.so.6", "/lib/libstdc++.so.6"}};
  CHECK(probe_platform(host).libstdcxx_version.why_unknown().number == ENOENT);
  host.link("/lib/libstdc++.so.6", "libstdc++.so.6.0.33").file("/lib/libstdc++.so.6.0.33", "");
  CHECK(probe_platform(host).libstdcxx_version.is("6.0.33"));
  host.file("/lib/libstdc++.so.6", "");
  CHECK_FALSE(probe_platform(host).libstdcxx_version.known());
}

TEST_CASE("root by way of sudo is told from root by login") {
  MemoryHost host = plain();
  host.variables["SUDO_UID"] = "1000";
  CHECK(probe_platform(host).under_sudo.is(false));
  host.identity.effective_uid = 0;
  CHECK(probe_platform(host).is_root.is(true));
  CHECK(probe_platform(host).under_sudo.is(true));
  host.variables["SUDO_UID"] = "0";
  CHECK(probe_platform(host).under_sudo.is(false));
}

TEST_CASE("Secure Boot is the last of five bytes, false without UEFI and unknown where it may be hidden") {
  CHECK(probe_platform(plain()).secure_boot.is(false));

  MemoryHost host = plain();
  host.file(efi_variable, std::string("\x06\0\0\0\x01", 5));
  CHECK(probe_platform(host).secure_boot.is(true));
  host.file(efi_variable, std::string("\x06\0\0\0\0", 5));
  CHECK(probe_platform(host).secure_boot.is(false));
  host.file(efi_variable, "\x01");
  CHECK_FALSE(probe_platform(host).secure_boot.known());
  host.unreadable(efi_variable, EACCES);
  CHECK(probe_platform(host).secure_boot.why_unknown().number == EACCES);

  MemoryHost unmounted = plain();
  unmounted.folder("/sys/firmware/efi");
  CHECK_FALSE(probe_platform(unmounted).secure_boot.known());

  MemoryHost container = plain();
  container.file("/.dockerenv", "");
  CHECK_FALSE(probe_platform(container).secure_boot.known());
}

TEST_CASE("the architecture is the kernel's word or, on old kernels, that of this program") {
  MemoryHost host = plain();
  CHECK_FALSE(probe_platform(host).architecture.known());
  host.elf_files["/proc/self/exe"].machine = "aarch64";
  CHECK(probe_platform(host).architecture.is("aarch64"));
  host.file("/proc/sys/kernel/arch", "x86_64\n");
  CHECK(probe_platform(host).architecture.is("x86_64"));
}

TEST_CASE("a machine with nothing in it has unknown facts, each with a reason") {
  const Platform platform = probe_platform(MemoryHost());
  CHECK_FALSE(platform.kind.known());
  CHECK(platform.kind.why_unknown().text.find("osrelease") != std::string::npos);
  CHECK_FALSE(platform.cpu_model.why_unknown().text.empty());
  CHECK_FALSE(platform.shm_size.why_unknown().text.empty());
}

}  // namespace sage
