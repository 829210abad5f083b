// The amdgpu module as a whole: may it load, did it load, is it the right build, does it complain? What it makes of
// each GPU is in driver_gpu.cpp. Everything under /sys/module and the kernel log is the host's, also inside a
// container; /etc/modprobe.d, /lib/modules and /var/lib/dkms there belong to the container and say nothing about the
// host.

#include <algorithm>
#include <array>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/driver_gpu.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

constexpr std::string_view command_line = "/proc/cmdline";

std::string grub_command(const Distribution& distribution, const std::string& argument) {
  const PackageFamily family = package_family(distribution);
  if (family == PackageFamily::fedora) {
    return "sudo grubby --update-kernel=ALL --remove-args=" + shell_word(argument);
  }
  return command_for(family, {"sudo update-grub", "", "sudo grub-mkconfig -o /boot/grub/grub.cfg",
                              "sudo grub2-mkconfig -o /boot/grub2/grub.cfg"});
}

Remedy remove_kernel_argument(const Distribution& distribution, const std::string& argument) {
  Remedy remedy;
  remedy.text = "Take `" + argument + "` out of the kernel command line (GRUB: in /etc/default/grub), then reboot.";
  if (package_family(distribution) != PackageFamily::fedora) {
    remedy.commands.push_back("sudo \"${EDITOR:-nano}\" /etc/default/grub");
  }
  if (std::string command = grub_command(distribution, argument); !command.empty()) remedy.commands.push_back(command);
  remedy.needs = {Need::sudo, Need::reboot};
  return remedy;
}

std::string numbered_file(const Blacklisting& entry) {
  return entry.line == 0 ? entry.file : entry.file + " line " + std::to_string(entry.line);
}

// The file's name when it lies in a folder that belongs to packages.
std::string packaged_name(const std::string& file) {
  for (const std::string_view folder : {"/usr/lib/modprobe.d/", "/lib/modprobe.d/"}) {
    if (file.starts_with(folder)) return file.substr(folder.size());
  }
  return {};
}

// Every line has to go, so all of them are one remedy.
Remedy remove_blacklisting(const Distribution& distribution, const std::vector<Blacklisting>& entries) {
  Remedy remedy;
  std::vector<std::string> files;
  std::vector<std::string> packaged;
  for (const Blacklisting& entry : entries) {
    if (entry.file == command_line) {
      const Remedy argument = remove_kernel_argument(distribution, entry.text);
      remedy.text += argument.text + " ";
      remedy.commands.insert(remedy.commands.end(), argument.commands.begin(), argument.commands.end());
    } else if (const std::string name = packaged_name(entry.file); !name.empty()) {
      // An update brings a packaged file back; an empty one of the same name in /etc hides it (modprobe.d(5)).
      packaged.push_back(entry.file);
      remedy.commands.push_back("sudo ln -s /dev/null /etc/modprobe.d/" + shell_word(name));
    } else {
      files.push_back(numbered_file(entry));
      remedy.commands.push_back(edit_command(entry.file, entry.line));
    }
  }
  if (!packaged.empty()) remedy.text += "Hide " + join(packaged, " and ") + ", which a package brings. ";
  if (!files.empty()) remedy.text += "Delete " + join(files, " and ") + ". ";
  if (!files.empty() || !packaged.empty()) {
    remedy.text += "Then rebuild the boot image and reboot.";
    const std::string rebuild = command_for(package_family(distribution), rebuild_boot_image);
    if (!rebuild.empty()) remedy.commands.push_back(rebuild);
  }
  remedy.needs = {Need::sudo, Need::reboot};
  return remedy;
}

std::vector<Finding> check_blacklisted(const CheckInput& input) {
  const Driver& driver = input.facts.driver;
  if (auto skip = skip_without_amdgpu(input.facts)) return {*skip};
  if (auto skip = skip_unless_known({{"driver.loaded", &driver.loaded},
                                     {"driver.blacklist", &driver.blacklist},
                                     {"platform.container", &input.facts.platform.container}})) {
    return {*skip};
  }
  std::vector<Blacklisting> entries = *driver.blacklist;
  if (in_container(input.facts)) {
    std::erase_if(entries, [](const Blacklisting& entry) { return entry.file != command_line; });
  }
  if (entries.empty()) return {pass("nothing keeps amdgpu from loading")};

  Finding finding = *driver.loaded ? warn("amdgpu is loaded although it is blacklisted")
                                   : fail("amdgpu is blacklisted and not loaded");
  finding.cause = *driver.loaded
                      ? "Something loads it by name. A blacklisted driver may be missing after the next boot."
                      : "A blacklisted driver is not loaded when the kernel finds its hardware.";
  finding.confidence = *driver.loaded ? Confidence::possible : Confidence::likely;
  for (const Blacklisting& entry : entries) {
    finding.evidence.push_back({numbered_file(entry), entry.text});
  }
  finding.remedies = {remove_blacklisting(input.facts.platform.distribution, entries)};
  finding.evidence.push_back({"/sys/module/amdgpu", *driver.loaded ? "present" : "absent"});
  finding.verify = "lsmod | grep '^amdgpu'";
  return {finding};
}

// What the kernel prints when it turns a module down for its signature, whatever its version.
bool tells_rejection(const std::string& line) {
  constexpr auto texts = std::to_array<std::string_view>({
      "Key was rejected by service",
      "Loading of unsigned module is rejected",
      "Loading of module with unavailable key is rejected",
      "unsigned module loading is restricted",
      "PKCS#7 signature not signed with a trusted key",
  });
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) { return contains(line, text); });
}

std::vector<std::string> rejections(const Driver& driver) {
  std::vector<std::string> found;
  // Such a line seldom names the module. The distribution signs its own modules, so it can't mean an in-tree amdgpu.
  if (!driver.log.known() || driver.origin.is(ModuleOrigin::in_tree) || driver.origin.is(ModuleOrigin::built_in)) {
    return found;
  }
  std::copy_if(driver.log->begin(), driver.log->end(), std::back_inserter(found), tells_rejection);
  return found;
}

std::vector<Remedy> signing_remedies(const Facts& facts) {
  const bool ubuntu = is_or_derives_from(facts.platform.distribution, "ubuntu");
  const std::string key = ubuntu ? "/var/lib/shim-signed/mok/MOK.der" : "/var/lib/dkms/mok.pub";
  Remedy enrol;
  enrol.text =
      "Let the firmware trust the key that DKMS signs with: choose a password, reboot, and in the blue screen "
      "take \"Enroll MOK\" and give that password. Then build the module again, now signed.";
  // Ubuntu makes its key only when asked; the command leaves one that exists alone.
  if (ubuntu) enrol.commands.emplace_back("sudo update-secureboot-policy --new-key");
  enrol.commands.push_back("sudo mokutil --import " + key);
  // `dkms autoinstall` passes over a module that is installed, with --force too.
  const std::string rebuild = command_for(package_family(facts.platform.distribution),
                                          {"sudo dpkg-reconfigure amdgpu-dkms", "sudo dnf reinstall amdgpu-dkms", "",
                                           "sudo zypper install --force amdgpu-dkms"});
  if (!rebuild.empty()) enrol.commands.push_back(rebuild);
  enrol.needs = {Need::sudo, Need::reboot};
  Remedy in_tree;
  in_tree.text = "Drop the DKMS driver: the kernel's own amdgpu is signed and serves most GPUs.";
  const std::string command =
      command_for(package_family(facts.platform.distribution),
                  {"sudo apt remove amdgpu-dkms", "sudo dnf remove amdgpu-dkms", "", "sudo zypper remove amdgpu-dkms"});
  if (!command.empty()) in_tree.commands = {command};
  in_tree.needs = {Need::sudo, Need::reboot};
  return {enrol, in_tree, {"Turn Secure Boot off in the firmware setup.", {}, {Need::reboot}}};
}

std::vector<Finding> check_secure_boot(const CheckInput& input) {
  const Facts& facts = input.facts;
  const Driver& driver = facts.driver;
  if (auto skip = skip_without_amdgpu(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"driver.loaded", &driver.loaded}})) return {*skip};
  if (*driver.loaded) return {pass("amdgpu is loaded, so Secure Boot does not keep it out")};

  const std::vector<std::string> rejected = rejections(driver);
  const bool unsigned_module =
      facts.platform.secure_boot.is(true) && driver.origin.is(ModuleOrigin::dkms) && driver.module_signed.is(false);
  if (rejected.empty() && !unsigned_module) {
    if (facts.platform.secure_boot.is(false)) return {not_applicable("Secure Boot is off")};
    if (auto skip = skip_unless_known(
            {{"platform.secure_boot", &facts.platform.secure_boot}, {"driver.module_signed", &driver.module_signed}})) {
      return {*skip};
    }
    return {not_applicable("amdgpu is not loaded, but nothing points to its signature")};
  }
  Finding finding = fail(rejected.empty() ? "Secure Boot is on and the DKMS build of amdgpu is not signed"
                                          : "the kernel rejected a driver module because of its signature");
  finding.evidence = log_evidence(rejected);
  finding.evidence.push_back({"/sys/module/amdgpu", "absent"});
  if (facts.platform.secure_boot.known()) {
    finding.evidence.push_back({"Secure Boot", *facts.platform.secure_boot ? "on" : "off"});
  }
  if (driver.module_path.known()) finding.evidence.push_back({"module", *driver.module_path});
  finding.cause = "With Secure Boot the kernel loads only modules signed with a key that the firmware knows.";
  finding.confidence = unsigned_module ? Confidence::certain : Confidence::likely;
  finding.remedies = signing_remedies(facts);
  finding.verify = "mokutil --sb-state; lsmod | grep '^amdgpu'";
  return {finding};
}

// The kernel arguments that keep amdgpu from touching hardware.
bool disables_modesetting(const std::string& argument) {
  return argument == "nomodeset" || argument == "amdgpu.modeset=0";
}

Remedy install_module(const Facts& facts) {
  Remedy remedy;
  remedy.text =
      "If the kernel was updated since the last start, reboot first. Otherwise install the modules of the "
      "running kernel.";
  const std::string release = "$(uname -r)";
  if (facts.platform.distribution.id.is("ubuntu")) {
    // The package of extra modules ended with 25.04; its files are in linux-modules since.
    const bool one_package = !version_below(facts.platform.distribution.version_id.value_or("24.04"), "25.10");
    remedy.commands = {one_package ? "sudo apt install --reinstall linux-modules-" + release
                                   : "sudo apt install linux-modules-extra-" + release,
                       "sudo modprobe amdgpu"};
  } else {
    const std::string command = command_for(package_family(facts.platform.distribution),
                                            {"sudo apt install linux-image-amd64", "sudo dnf install kernel-modules",
                                             "sudo pacman -Syu linux", "sudo zypper install kernel-default"});
    if (!command.empty()) remedy.commands = {command};
  }
  remedy.needs = {Need::sudo, Need::reboot};
  return remedy;
}

void explain_not_loaded(const Facts& facts, Finding& finding) {
  const Driver& driver = facts.driver;
  const std::string kernel = facts.platform.kernel_release.value_or("the running kernel");
  if (driver.kernel_arguments.known()) {
    const auto argument =
        std::find_if(driver.kernel_arguments->begin(), driver.kernel_arguments->end(), disables_modesetting);
    if (argument != driver.kernel_arguments->end()) {
      finding.cause = "The kernel was started with `" + *argument + "`, so amdgpu refuses to load.";
      finding.evidence.push_back({std::string(command_line), *argument});
      finding.remedies.push_back(remove_kernel_argument(facts.platform.distribution, *argument));
      return;
    }
  }
  if (in_container(facts)) {
    finding.cause = "A container uses the host's driver: it has to be loaded there.";
    finding.remedies.push_back(
        {"Load it on the host.", {"sudo modprobe amdgpu", "sudo dmesg | grep -i amdgpu | tail"}, {Need::sudo}});
    return;
  }
  if (driver.module_available.is(false)) {
    finding.cause = "There is no amdgpu module for kernel " + kernel + ".";
    finding.evidence.push_back({"/lib/modules/" + kernel, "no amdgpu module"});
    if (driver.dkms.known() && !driver.dkms->empty()) {
      finding.cause += " DKMS has amdgpu " + driver.dkms->front().version + ", but not built for it.";
      finding.remedies.push_back({"Build the DKMS driver for this kernel.", {"sudo dkms autoinstall"}, {Need::sudo}});
    }
    finding.remedies.push_back(install_module(facts));
    return;
  }
  finding.cause = "The module is there but was not loaded, or it failed while loading; the kernel log says which.";
  finding.confidence = Confidence::possible;
  finding.remedies.push_back(
      {"Load it and read what it says.", {"sudo modprobe amdgpu", "sudo dmesg | grep -i amdgpu | tail"}, {Need::sudo}});
}

std::vector<Finding> check_module_loaded(const CheckInput& input) {
  const Facts& facts = input.facts;
  const Driver& driver = facts.driver;
  if (auto skip = skip_without_amdgpu(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"driver.loaded", &driver.loaded}})) return {*skip};
  if (*driver.loaded) {
    const std::string version = driver.version.value_or("");
    return {pass(version.empty() ? "amdgpu is loaded" : "amdgpu is loaded, version " + version)};
  }
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  const bool all_taken = std::all_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) {
    return gpu.driver.known() && !gpu.driver->empty() && *gpu.driver != "amdgpu";
  });
  if (all_taken) return {not_applicable("another driver has every AMD GPU")};

  Finding finding = fail("there is an AMD GPU, but the amdgpu driver is not loaded");
  finding.evidence = {{"/sys/module/amdgpu", "absent"}, {"GPU", gpu_label(gpus.front())}};
  explain_not_loaded(facts, finding);
  finding.verify = "lsmod | grep '^amdgpu'";
  return {finding};
}

std::vector<Finding> check_dkms(const CheckInput& input) {
  const Facts& facts = input.facts;
  const Driver& driver = facts.driver;
  if (auto skip = skip_without_amdgpu(facts)) return {*skip};
  if (auto skip =
          skip_unless_known({{"driver.loaded", &driver.loaded}, {"platform.container", &facts.platform.container}})) {
    return {*skip};
  }
  if (in_container(facts)) return {not_applicable("the driver is the host's, not this container's")};
  if (auto skip = skip_unless_known(
          {{"driver.dkms", &driver.dkms}, {"platform.kernel_release", &facts.platform.kernel_release}})) {
    return {*skip};
  }
  if (driver.dkms->empty()) return {pass("no amdgpu is built by DKMS")};
  const std::string& kernel = *facts.platform.kernel_release;
  const auto built = std::find_if(driver.dkms->begin(), driver.dkms->end(),
                                  [&](const DkmsBuild& build) { return build.kernel == kernel; });
  if (built != driver.dkms->end()) return {pass("DKMS built amdgpu " + built->version + " for this kernel")};

  Finding finding =
      warn("DKMS has amdgpu " + driver.dkms->front().version + ", but not for the running kernel " + kernel);
  for (const DkmsBuild& build : *driver.dkms) {
    finding.evidence.push_back({"/var/lib/dkms/amdgpu/" + build.version,
                                build.kernel.empty() ? "built for no kernel" : "built for " + build.kernel});
  }
  finding.cause = "The kernel was updated and the build failed or never ran; the kernel's own amdgpu is used instead.";
  finding.confidence = Confidence::likely;
  const std::string headers =
      command_for(package_family(facts.platform.distribution),
                  {"sudo apt install linux-headers-$(uname -r)", "sudo dnf install kernel-devel-$(uname -r)",
                   "sudo pacman -S --needed linux-headers", "sudo zypper install kernel-default-devel"});
  Remedy build = {"Build it for this kernel.", {}, {Need::sudo, Need::reboot}};
  if (!headers.empty()) build.commands.push_back(headers);
  build.commands.push_back("sudo dkms autoinstall");
  finding.remedies = {
      build,
      {"If the build fails, this kernel is too new for that driver; its log tells.",
       {"tail -n 30 " + shell_word("/var/lib/dkms/amdgpu/" + driver.dkms->front().version + "/build/make.log")},
       {}},
      {"If the GPU works without it, remove the package amdgpu-dkms.", {}, {Need::sudo}}};
  finding.verify = "dkms status amdgpu";
  return {finding};
}

// Trouble that the driver reports while it runs. The first text that a line contains decides.
struct LogSign {
  std::string_view text;
  std::string_view meaning;
};

constexpr auto log_signs = std::to_array<LogSign>({
    {"IO_PAGE_FAULT", "the IOMMU blocked an access of the GPU"},
    {"MES failed", "the GPU's scheduler (MES) stopped answering"},
    {"MES might be in unrecoverable state", "the GPU's scheduler (MES) stopped answering"},
    {"GPU reset", "the GPU hung and was reset"},
    {"page fault", "a program accessed memory that it does not have"},
    {"VM_L2_PROTECTION_FAULT", "a program accessed memory that it does not have"},
});

std::string_view meaning_of(const std::string& line) {
  for (const LogSign& sign : log_signs) {
    if (contains_ignoring_case(line, sign.text)) return sign.meaning;
  }
  const bool timeout = contains(line, "ring ") && contains_ignoring_case(line, "timeout");
  return timeout ? "the GPU did not finish its work in time" : "";
}

std::vector<Finding> check_kernel_log(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_amdgpu(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"driver.loaded", &facts.driver.loaded}, {"driver.log", &facts.driver.log}})) {
    return {*skip};
  }
  std::vector<std::string> signs;
  std::vector<std::string> meanings;
  for (const std::string& line : *facts.driver.log) {
    const std::string meaning(meaning_of(line));
    if (meaning.empty()) continue;
    signs.push_back(line);
    if (std::find(meanings.begin(), meanings.end(), meaning) == meanings.end()) meanings.push_back(meaning);
  }
  if (signs.empty()) return {pass("the kernel log shows no trouble of amdgpu since the start")};

  Finding finding = warn("the kernel log has " + counted(signs.size(), "line") + " about trouble of the GPU");
  finding.evidence = log_evidence(signs);
  finding.cause = "Since the last start: " + join(meanings, "; ") + ".";
  finding.confidence = Confidence::possible;
  finding.remedies = {
      {"Reboot, so that the GPU starts afresh. If it comes back: update kernel and firmware, lower overclocks, and run "
       "with the smallest program that shows it.",
       {},
       {Need::reboot}}};
  finding.verify = "sudo dmesg | grep -iE 'amdgpu|IO_PAGE_FAULT' | tail";
  return {finding};
}

}  // namespace

std::vector<Check> driver_checks() {
  return {
      {"driver.blacklisted", "amdgpu not blacklisted", Topic::driver, {"gpu.present"}, check_blacklisted},
      {"driver.secure-boot", "module signature accepted", Topic::driver, {"driver.blacklisted"}, check_secure_boot},
      {"driver.module-loaded", "amdgpu loaded", Topic::driver, {"driver.secure-boot"}, check_module_loaded},
      {"driver.firmware", "GPU firmware", Topic::driver, {"driver.module-loaded"}, check_firmware},
      {"driver.gpu-unbound", "GPU has its driver", Topic::driver, {"driver.firmware"}, check_gpu_unbound},
      {"driver.kfd-node", "GPU known to KFD", Topic::driver, {"driver.gpu-unbound"}, check_kfd_node},
      {"driver.dkms", "DKMS build fits the kernel", Topic::driver, {"driver.module-loaded"}, check_dkms},
      {"driver.kernel-log", "kernel log", Topic::driver, {"driver.module-loaded"}, check_kernel_log},
  };
}

}  // namespace sage
