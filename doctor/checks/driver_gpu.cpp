#include "doctor/checks/driver_gpu.hpp"

#include <algorithm>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

// The kernel prints a PCI address in lines about one GPU; "0000:03:00.0/1" is a partition of the device before the '/'.
std::string pci_address(const Gpu& gpu) {
  return std::string(split(gpu.id, '/').front());
}

// "bb:dd.f" somewhere in the line means that the line is about one device.
bool names_a_device(const std::string& line) {
  for (std::size_t i = 0; i + 12 <= line.size(); ++i) {
    if (line[i + 4] == ':' && line[i + 7] == ':' && line[i + 10] == '.') return true;
  }
  return false;
}

bool about_this_gpu(const std::string& line, const Gpu& gpu) {
  return contains(line, pci_address(gpu)) || !names_a_device(line);
}

template <class Wanted>
std::vector<std::string> log_lines(const Facts& facts, Wanted wanted) {
  std::vector<std::string> found;
  if (!facts.driver.log.known()) return found;
  std::copy_if(facts.driver.log->begin(), facts.driver.log->end(), std::back_inserter(found), wanted);
  return found;
}

bool tells_firmware_failure(const std::string& line) {
  return contains(line, "Direct firmware load for amdgpu/") ||
         (contains(line, "amdgpu") && contains_ignoring_case(line, "failed to load firmware"));
}

constexpr FamilyCommand install_firmware = {"sudo apt update && sudo apt install --reinstall linux-firmware",
                                            "sudo dnf upgrade --refresh 'linux-firmware*' 'amd-gpu-firmware*'",
                                            "sudo pacman -Syu linux-firmware",
                                            "sudo zypper install kernel-firmware-amdgpu"};

std::vector<Remedy> firmware_remedies(const Facts& facts) {
  const Distribution& distribution = facts.platform.distribution;
  const PackageFamily family = package_family(distribution);
  const std::string install = distribution.id.is("debian") ? "sudo apt update && sudo apt install firmware-amd-graphics"
                                                           : command_for(family, install_firmware);
  const std::string rebuild = command_for(family, rebuild_boot_image);
  Remedy remedy = {"Install the distribution's newest firmware, rebuild the boot image and reboot.", {}, {}};
  if (distribution.id.is("debian")) remedy.text += " (Debian keeps it in the section non-free-firmware)";
  if (!install.empty()) remedy.commands.push_back(install);
  if (!rebuild.empty()) remedy.commands.push_back(rebuild);
  remedy.needs = {Need::sudo, Need::reboot};
  return {remedy,
          {"If the distribution has no files for this GPU yet, take a newer release of the distribution.", {}, {}}};
}

// "gc_12_0_1_", the beginning of the names of the files that the graphics core needs.
std::string firmware_prefix(const std::string& gc_version) {
  std::string prefix = "gc_" + gc_version + "_";
  std::replace(prefix.begin(), prefix.end(), '.', '_');
  return prefix;
}

Finding firmware_of(const CheckInput& input, const Gpu& gpu) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"driver.loaded", &facts.driver.loaded}, {"gpus.amd.driver", &gpu.driver}})) {
    return *skip;
  }
  if (!*facts.driver.loaded) return not_applicable("amdgpu is not loaded");
  if (!gpu.driver->empty() && *gpu.driver != "amdgpu") return not_applicable("another driver has this GPU");

  const std::vector<std::string> failures = log_lines(
      facts, [&](const std::string& line) { return tells_firmware_failure(line) && about_this_gpu(line, gpu); });
  if (!failures.empty()) {
    const bool bound = *gpu.driver == "amdgpu";
    Finding finding = bound ? warn("amdgpu could not load a firmware file for " + gpu_label(gpu))
                            : fail("amdgpu could not load its firmware for " + gpu_label(gpu) + " and gave it up");
    finding.evidence = log_evidence(failures);
    finding.cause =
        "The file is missing or too old on this system" + std::string(bound ? "; part of the GPU may not work." : ".");
    finding.confidence = bound ? Confidence::possible : Confidence::likely;
    finding.remedies = firmware_remedies(facts);
    finding.verify = "sudo dmesg | grep -i 'firmware' | grep -i amdgpu";
    return finding;
  }
  if (auto skip = skip_unless_known(
          {{"gpus.amd.gc_version", &gpu.gc_version}, {"platform.container", &facts.platform.container}})) {
    return *skip;
  }
  // In a container /lib/firmware is the image's; the kernel reads the host's.
  if (!version_below(*gpu.gc_version, "11") && !in_container(facts)) {
    if (auto skip = skip_unless_known({{"driver.gc_firmware", &facts.driver.gc_firmware}})) return *skip;
    const std::string prefix = firmware_prefix(*gpu.gc_version);
    const auto& files = *facts.driver.gc_firmware;
    const bool found =
        std::any_of(files.begin(), files.end(), [&](const std::string& file) { return file.rfind(prefix, 0) == 0; });
    if (!found) {
      Finding finding = warn("there is no firmware for the graphics core " + *gpu.gc_version + " of " + gpu_label(gpu));
      finding.evidence = {{"/lib/firmware/amdgpu", "no " + prefix + "*"}};
      finding.cause = "The firmware package is older than the GPU.";
      finding.confidence = Confidence::likely;
      finding.remedies = firmware_remedies(facts);
      finding.verify = "ls /lib/firmware/amdgpu/" + prefix + "*";
      return finding;
    }
  }
  if (auto skip = skip_unless_known({{"driver.log", &facts.driver.log}})) return *skip;
  return pass("the kernel log tells of no missing firmware");
}

// The first kernel that drives the chip, when the running one is older. A hint: the table is weakly marked.
std::optional<std::string> first_kernel_if_newer(const CheckInput& input, const Gpu& gpu) {
  const Fact<std::string>& running = input.facts.platform.kernel_release;
  const GfxTarget* target = gpu.target.known() ? input.tables.target(*gpu.target) : nullptr;
  if (target == nullptr || target->kernel_first.empty() || !running.known()) return std::nullopt;
  if (!version_below(*running, target->kernel_first)) return std::nullopt;
  return target->kernel_first;
}

void explain_old_kernel(const CheckInput& input, const Gpu& gpu, const std::string& first, Finding& finding) {
  finding.cause = "Kernel " + *input.facts.platform.kernel_release + " is older than " + first +
                  ", which first drives " + *gpu.target + ".";
  finding.confidence = Confidence::likely;
  finding.evidence.push_back({"/proc/sys/kernel/osrelease", *input.facts.platform.kernel_release});
  finding.remedies.push_back(newer_kernel(input.facts.platform.distribution, first));
}

void explain_vfio(const Facts& facts, const Gpu& gpu, Finding& finding) {
  finding.cause = "The GPU is set aside for a virtual machine.";
  finding.confidence = Confidence::certain;
  const std::string rebuild = command_for(package_family(facts.platform.distribution), rebuild_boot_image);
  Remedy give_back = {
      "If that is what you want, run PyTorch in the virtual machine. Otherwise take the GPU out of "
      "`vfio-pci.ids=` on the kernel command line and out of the `options vfio-pci ids=` line that this "
      "finds, rebuild the boot image and reboot.",
      {"grep -rn vfio /etc/modprobe.d /etc/default/grub"},
      {Need::sudo, Need::reboot}};
  if (!rebuild.empty()) give_back.commands.push_back(rebuild);
  finding.remedies.push_back(std::move(give_back));
  finding.verify = "readlink /sys/bus/pci/devices/" + pci_address(gpu) + "/driver    # ends in amdgpu";
}

Finding unbound(const CheckInput& input, const Gpu& gpu) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"gpus.amd.driver", &gpu.driver}})) return *skip;
  if (*gpu.driver == "amdgpu") return pass(gpu_label(gpu) + " is driven by amdgpu");

  const std::string link = "/sys/bus/pci/devices/" + pci_address(gpu) + "/driver";
  if (!gpu.driver->empty()) {
    const std::string observed = gpu_label(gpu) + " is bound to " + *gpu.driver + " instead of amdgpu";
    // Passing one GPU through and computing on another is a sound setup.
    Finding finding = another_gpu_works(facts, gpu) ? warn(observed) : fail(observed);
    finding.evidence = {{link, *gpu.driver}};
    if (*gpu.driver == "vfio-pci") {
      explain_vfio(facts, gpu, finding);
    } else {
      finding.cause = "Only amdgpu offers compute; another driver claimed the GPU first.";
      finding.confidence = Confidence::likely;
      finding.remedies = {{"Blacklist " + *gpu.driver +
                               " (for old GPUs also add `amdgpu.si_support=1 "
                               "amdgpu.cik_support=1` to the kernel command line) and reboot.",
                           {},
                           {Need::sudo, Need::reboot}}};
      finding.verify = "readlink " + link;
    }
    return finding;
  }

  Finding finding = fail("amdgpu is loaded but did not take " + gpu_label(gpu));
  finding.evidence = {{link, "absent"}};
  const std::vector<std::string> lines = log_lines(facts, [&](const std::string& line) {
    return contains(line, pci_address(gpu)) &&
           (contains_ignoring_case(line, "fail") || contains_ignoring_case(line, "error") ||
            contains_ignoring_case(line, "fatal"));
  });
  const std::vector<Evidence> said = log_evidence(lines);
  finding.evidence.insert(finding.evidence.end(), said.begin(), said.end());
  if (const auto first = first_kernel_if_newer(input, gpu)) {
    explain_old_kernel(input, gpu, *first, finding);
  } else {
    finding.cause = "The driver does not know the GPU, or gave up while starting it; the kernel log says which.";
    finding.confidence = Confidence::possible;
    finding.remedies = {{"Read what the driver said.", {"sudo dmesg | grep -i amdgpu"}, {Need::sudo}},
                        newer_kernel(facts.platform.distribution, "")};
  }
  finding.verify = "readlink " + link + "    # ends in amdgpu";
  return finding;
}

void explain_missing_node(const CheckInput& input, const Gpu& gpu, Finding& finding) {
  const Facts& facts = input.facts;
  if (facts.driver.kfd_topology.is(false)) {
    finding.cause = "This kernel was built without CONFIG_HSA_AMD, so amdgpu can draw but not compute.";
    finding.evidence.push_back({"/sys/class/kfd/kfd/topology", "absent"});
    finding.confidence = Confidence::likely;
    finding.remedies.push_back(newer_kernel(facts.platform.distribution, ""));
    return;
  }
  const auto atomics = log_lines(facts, [&](const std::string& line) {
    return contains(line, "PCI rejects atomics") && about_this_gpu(line, gpu);
  });
  if (!atomics.empty()) {
    // Reads like a fault of the slot, but A<B compares firmware versions (facts/bugs.md B23, facts/gfx.md 3).
    finding.cause =
        "The GPU's compute firmware (MEC) is too old to work without PCIe atomics in this slot: in "
        "\"rejects atomics A<B\", A is its version and B the one needed.";
    finding.confidence = Confidence::likely;
    finding.evidence = log_evidence(atomics);
    finding.remedies = firmware_remedies(facts);
    finding.remedies.push_back({"Move the GPU to a slot wired to the CPU, where PCIe atomics work.", {}, {}});
    return;
  }
  const auto unsupported = log_lines(
      facts, [](const std::string& line) { return contains(line, "GC IP") && contains(line, "not supported in kfd"); });
  if (!unsupported.empty()) {
    finding.cause = "The kernel is older than the GPU: its KFD part does not know it.";
    finding.confidence = Confidence::certain;
    finding.evidence = log_evidence(unsupported);
    finding.remedies.push_back(newer_kernel(facts.platform.distribution, ""));
    return;
  }
  if (const auto first = first_kernel_if_newer(input, gpu)) return explain_old_kernel(input, gpu, *first, finding);
  finding.cause = "KFD left the GPU out; the kernel log says why.";
  finding.confidence = Confidence::possible;
  finding.remedies = {{"Read what it said.", {"sudo dmesg | grep -i kfd"}, {Need::sudo}}, newer_kernel(facts.platform.distribution, "")};
}

Finding kfd_node_of(const CheckInput& input, const Gpu& gpu) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"gpus.amd.driver", &gpu.driver}})) return *skip;
  if (*gpu.driver != "amdgpu") return not_applicable("this GPU is not driven by amdgpu");
  if (!facts.driver.kfd_topology.is(false)) {
    if (auto skip = skip_unless_known({{"gpus.amd.in_kfd", &gpu.in_kfd}})) return *skip;
    if (*gpu.in_kfd) {
      const std::string node = gpu.kfd_node.known() ? " as node " + std::to_string(*gpu.kfd_node) : "";
      return pass("KFD lists " + gpu_label(gpu) + node);
    }
  }
  const std::string observed = "amdgpu drives " + gpu_label(gpu) + ", but KFD, its compute part, does not list it";
  // An integrated GPU that can't compute harms nobody while a discrete one does.
  const bool minor = gpu.kind.is(GpuKind::integrated) && another_gpu_works(facts, gpu);
  Finding finding = minor ? warn(observed) : fail(observed);
  finding.evidence = {{"/sys/class/kfd/kfd/topology/nodes", "no node for " + pci_address(gpu)}};
  explain_missing_node(input, gpu, finding);
  finding.verify = "grep -H gfx_target_version /sys/class/kfd/kfd/topology/nodes/*/properties";
  return finding;
}

}  // namespace

std::vector<Finding> check_firmware(const CheckInput& input) {
  return judge_each_gpu(input, firmware_of);
}
std::vector<Finding> check_gpu_unbound(const CheckInput& input) {
  return judge_each_gpu(input, unbound);
}
std::vector<Finding> check_kfd_node(const CheckInput& input) {
  return judge_each_gpu(input, kfd_node_of);
}

}  // namespace sage
