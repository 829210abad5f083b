#include <algorithm>

#include "doctor/checks/build_jobs.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

constexpr std::uint64_t gib = 1024ULL * 1024 * 1024;

// Enough for one compiler job and the rest of the system. An estimate: it only steers advice.
constexpr std::uint64_t least_memory_for_builds = 4 * gib;

// librocdxg's and AMD's own container advice (facts/wsl.md 2.6).
constexpr std::uint64_t least_shared_memory = 1 * gib;

std::vector<Finding> check_wsl1(const CheckInput& input) {
  const Platform& platform = input.facts.platform;
  if (auto skip = skip_unless_known({{"platform.kind", &platform.kind}})) return {*skip};
  if (*platform.kind == PlatformKind::wsl2) return {pass("this is WSL2")};
  if (*platform.kind != PlatformKind::wsl1) return {not_applicable("this is not WSL")};

  Finding finding = fail("this is WSL1, which has no way to a GPU");
  finding.evidence = {{"/proc/sys/kernel/osrelease", platform.kernel_release.value_or("?")}};
  finding.cause = "WSL1 translates Linux system calls on Windows; only WSL2 has a Linux kernel with /dev/dxg.";
  const auto name = input.facts.environment.get("WSL_DISTRO_NAME");
  const bool named = name.known() && name->has_value() && !(*name)->empty();
  finding.remedies = {
      {"In PowerShell on Windows, turn this distribution into WSL2. It takes some minutes and keeps your files.",
       {"wsl --update", "wsl --set-version " + (named ? shell_word(**name) : std::string("DISTRO")) + " 2"},
       {Need::windows}}};
  if (!named) finding.remedies[0].text += " (`wsl --list` shows the name to put in place of DISTRO)";
  finding.verify = "uname -r    # ends in -microsoft-standard-WSL2";
  return {finding};
}

std::vector<Finding> check_sudo(const CheckInput& input) {
  const Platform& platform = input.facts.platform;
  if (auto skip = skip_unless_known({{"platform.under_sudo", &platform.under_sudo}})) return {*skip};
  if (!*platform.under_sudo) return {pass("not run through sudo")};

  Finding finding = warn("this runs as root through sudo, so it shows what root may do, not what you may do");
  finding.cause = "Root passes every permission check, and sudo drops the environment variables that you have set.";
  finding.remedies = {{"Run it as yourself; no check needs root.", {"sage-doctor check"}, {}}};
  finding.verify = "id -u    # not 0";
  return {finding};
}

// Under WSL another distribution is one command away, and the device flags of native Linux fail there.
Remedy newer_userland(const Facts& facts, const std::string& text) {
  if (facts.platform.kind.known() && uses_dxg(*facts.platform.kind)) {
    return {text + "; in PowerShell on Windows a further one is installed beside this one.",
            {"wsl --install -d Ubuntu-24.04"},
            {Need::windows}};
  }
  return {text + ", or a container of one.", {"docker run -it --device=/dev/kfd --device=/dev/dri ubuntu:24.04"}, {}};
}

std::vector<Finding> check_libc(const CheckInput& input) {
  const Platform& platform = input.facts.platform;
  if (auto skip = skip_unless_known(
          {{"platform.libc_name", &platform.libc_name}, {"platform.libc_version", &platform.libc_version}})) {
    return {*skip};
  }
  const std::string& name = *platform.libc_name;
  const std::string& version = *platform.libc_version;
  Finding finding = pass(name + " " + version + " runs the wheels of PyTorch and ROCm");
  finding.evidence = {{"C library", name + " " + version}};
  if (name == "glibc" && !parse_version(version)) {
    return {make_finding(Status::skip, "unknown: the glibc version \"" + version + "\" is not a number")};
  }
  if (name == "glibc" && !version_below(version, "2.28")) return {finding};

  finding.status = Status::warn;
  if (name == "glibc") {
    finding.observed = "glibc " + version + " is older than 2.28, which PyTorch's ROCm wheels ask for";
    finding.cause = "The wheels are built for manylinux_2_28; pip does not offer them to an older system.";
    finding.remedies = {newer_userland(input.facts, "Use a newer distribution")};
  } else {
    finding.observed = "the C library is " + name + "; PyTorch and ROCm are only built for glibc";
    finding.cause = "Wheels tagged manylinux need glibc. pip finds none of them on " + name + ".";
    finding.remedies = {newer_userland(input.facts, "Use a distribution with glibc (Ubuntu, Debian, Fedora, Arch)")};
  }
  finding.verify = "ldd --version | head -n 1";
  return {finding};
}

std::vector<Finding> check_build_memory(const CheckInput& input) {
  const Platform& platform = input.facts.platform;
  if (auto skip = skip_unless_known({{"platform.memory_limit", &platform.memory_limit},
                                     {"platform.memory_available", &platform.memory_available},
                                     {"platform.swap_total", &platform.swap_total},
                                     {"platform.usable_cpus", &platform.usable_cpus}})) {
    return {*skip};
  }
  const std::uint64_t limit = *platform.memory_limit;
  const std::uint64_t available = std::min(*platform.memory_available, limit);
  const std::string jobs = std::to_string(*fitting_build_jobs(platform, memory_per_extension_job));

  Finding finding = pass("builds of extensions fit with MAX_JOBS=" + jobs + ": " + human_bytes(available) +
                         " of memory are free for " + counted(*platform.usable_cpus, "CPU"));
  finding.evidence = {{"memory limit", human_bytes(limit)},
                      {"memory available", human_bytes(available)},
                      {"swap", human_bytes(*platform.swap_total)}};
  if (limit / 2 + *platform.swap_total / 2 >= least_memory_for_builds / 2) return {finding};

  finding.status = Status::warn;
  finding.observed = human_bytes(limit) + " of memory and " + human_bytes(*platform.swap_total) +
                     " of swap is little for compiling GPU extensions";
  finding.cause = "One compiler job may take about 3 GiB; the kernel then kills it (\"Killed\", signal 9).";
  finding.confidence = Confidence::likely;
  finding.remedies = {{"Compile one file at a time.", {"export MAX_JOBS=1"}, {}}};
  if (platform.kind.is(PlatformKind::wsl2)) {
    finding.remedies.push_back(
        {"Give WSL more memory: in %UserProfile%\\.wslconfig on Windows write `memory=16GB` below "
         "`[wsl2]`, then in PowerShell.",
         {"wsl --shutdown"},
         {Need::windows, Need::wsl_restart}});
  } else if (in_container(input.facts)) {
    finding.remedies.push_back(
        {"Give the container more memory (`docker run --memory=16g IMAGE`).", {}, {Need::container_restart}});
  } else {
    finding.remedies.push_back({"Add swap until the next reboot. On btrfs (Fedora's default) a file that holds swap is made by `sudo btrfs "
                                "filesystem mkswapfile --size 8g /swapfile-build` in place of the first line.",
                                {"sudo fallocate -l 8G /swapfile-build && sudo chmod 600 /swapfile-build && sudo mkswap /swapfile-build",
                                 "sudo swapon /swapfile-build"},
                                {Need::sudo}});
  }
  finding.verify = "free -h";
  return {finding};
}

std::vector<Finding> check_shm(const CheckInput& input) {
  const Platform& platform = input.facts.platform;
  if (auto skip = skip_unless_known({{"platform.shm_size", &platform.shm_size}})) return {*skip};
  const std::string size = human_bytes(*platform.shm_size);
  if (*platform.shm_size >= least_shared_memory) return {pass("/dev/shm holds " + size)};

  Finding finding = warn("/dev/shm holds only " + size);
  finding.evidence = {{"/dev/shm", std::to_string(*platform.shm_size) + " bytes"}};
  finding.cause =
      "PyTorch's data loaders and RCCL pass data through /dev/shm; they stop with \"Bus error\" or \"No space left on "
      "device\" when it is full.";
  finding.confidence = Confidence::likely;
  if (platform.container.is(ContainerKind::kubernetes)) {
    finding.remedies = {
        {"Mount an emptyDir with `medium: Memory` at /dev/shm in the pod.", {}, {Need::container_restart}}};
  } else if (platform.container.is(ContainerKind::podman)) {
    finding.remedies = {
        {"Start the container with more.", {"podman run --shm-size=8g IMAGE"}, {Need::container_restart}}};
  } else if (in_container(input.facts)) {
    finding.remedies = {{"Start the container with more, or with the host's.",
                         {"docker run --shm-size=8g IMAGE", "docker run --ipc=host IMAGE"},
                         {Need::container_restart}}};
  } else {
    finding.remedies = {
        {"Make it larger until the next reboot.", {"sudo mount -o remount,size=8G /dev/shm"}, {Need::sudo}}};
  }
  finding.verify = "df -h /dev/shm";
  return {finding};
}

}  // namespace

std::vector<Check> platform_checks() {
  return {
      {"platform.wsl1", "WSL version", Topic::platform, {}, check_wsl1},
      {"platform.sudo", "run as yourself", Topic::platform, {}, check_sudo},
      {"platform.libc", "C library", Topic::platform, {}, check_libc},
      {"platform.build-memory", "memory for builds", Topic::platform, {}, check_build_memory},
      {"platform.shm", "shared memory", Topic::platform, {}, check_shm},
  };
}

}  // namespace sage
