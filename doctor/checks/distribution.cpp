#include "doctor/checks/distribution.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

struct FamilyName {
  std::string_view name;
  PackageFamily family;
};

// Names as they stand in ID and ID_LIKE.
constexpr auto family_names = std::to_array<FamilyName>({
    {"debian", PackageFamily::debian},
    {"ubuntu", PackageFamily::debian},
    {"fedora", PackageFamily::fedora},
    {"rhel", PackageFamily::fedora},
    {"centos", PackageFamily::fedora},
    {"arch", PackageFamily::arch},
    {"suse", PackageFamily::suse},
    {"opensuse", PackageFamily::suse},
    {"opensuse-tumbleweed", PackageFamily::suse},
    {"opensuse-leap", PackageFamily::suse},
    {"sles", PackageFamily::suse},
});

PackageFamily family_of(std::string_view name) {
  for (const auto& [candidate, family] : family_names) {
    if (candidate == name) return family;
  }
  return PackageFamily::unknown;
}

// The kernel at which a release's HWE series ended. General knowledge of Ubuntu's releases, not checked here: it only
// chooses between two ways to a newer kernel.
struct LastHweKernel {
  std::string_view release;
  std::string_view kernel;
};

constexpr auto last_hwe_kernels = std::to_array<LastHweKernel>({{"20.04", "5.15"}, {"22.04", "6.8"}});

bool hwe_reaches(std::string_view release, std::string_view wanted) {
  for (const LastHweKernel& row : last_hwe_kernels) {
    if (row.release == release) return !wanted.empty() && !version_below(row.kernel, wanted);
  }
  return true;
}

// Only LTS releases, those of April in even years, have an HWE kernel.
bool is_ubuntu_lts(std::string_view release) {
  const auto year = parse_number(release.substr(0, 2));
  return release.size() == 5 && year && *year % 2 == 0 && release.ends_with(".04");
}

Remedy newer_ubuntu_kernel(const Distribution& distribution, std::string_view wanted, Remedy remedy) {
  const std::string release = distribution.version_id.value_or("");
  if (is_ubuntu_lts(release) && hwe_reaches(release, wanted)) {
    remedy.commands = {"sudo apt update && sudo apt install linux-generic-hwe-" + release + " linux-firmware"};
  } else {
    remedy.text = "Kernels of Ubuntu " + release + " end before that: upgrade to the next Ubuntu release, or install " +
                  "AMD's amdgpu-dkms; then reboot.";
    remedy.commands = {"sudo do-release-upgrade"};
  }
  return remedy;
}

}  // namespace

PackageFamily package_family(const Distribution& distribution) {
  const PackageFamily own = family_of(distribution.id.value_or(""));
  if (own != PackageFamily::unknown) return own;
  const std::string alike = distribution.id_like.value_or("");
  for (const std::string_view name : words(alike)) {
    if (const PackageFamily family = family_of(name); family != PackageFamily::unknown) return family;
  }
  return PackageFamily::unknown;
}

std::string command_for(PackageFamily family, const FamilyCommand& commands) {
  switch (family) {
    case PackageFamily::debian:
      return std::string(commands.debian);
    case PackageFamily::fedora:
      return std::string(commands.fedora);
    case PackageFamily::arch:
      return std::string(commands.arch);
    case PackageFamily::suse:
      return std::string(commands.suse);
    case PackageFamily::unknown:
      break;
  }
  return "";
}

bool is_or_derives_from(const Distribution& distribution, std::string_view name) {
  if (distribution.id.is(std::string(name))) return true;
  const std::string alike = distribution.id_like.value_or("");
  const auto names = words(alike);
  return std::find(names.begin(), names.end(), name) != names.end();
}

Remedy newer_kernel(const Distribution& distribution, std::string_view wanted) {
  Remedy remedy = {"Install a newer kernel and firmware from the distribution, then reboot.",
                   {},
                   {Need::sudo, Need::reboot}};
  if (distribution.id.is("ubuntu")) return newer_ubuntu_kernel(distribution, wanted, std::move(remedy));
  if (distribution.id.is("debian")) {
    remedy.text = "Install the kernel and firmware of Debian's backports, then reboot.";
    remedy.commands = {
        "echo \"deb http://deb.debian.org/debian $(. /etc/os-release; echo $VERSION_CODENAME)-backports main "
        "non-free-firmware\" | sudo tee /etc/apt/sources.list.d/backports.list",
        "sudo apt update && sudo apt install -t \"$(. /etc/os-release; echo $VERSION_CODENAME)-backports\" "
        "linux-image-amd64 firmware-amd-graphics"};
    return remedy;
  }
  if (is_or_derives_from(distribution, "ubuntu")) {
    remedy.text =
        "Install a newer kernel with the distribution's update manager, or upgrade to its next release; then reboot.";
    return remedy;
  }
  // Enterprise kernels keep their version for years; AMD's DKMS driver is made for them.
  if (package_family(distribution) == PackageFamily::fedora && !distribution.id.is("fedora")) {
    remedy.text = "The kernel of this distribution keeps its version; install AMD's amdgpu-dkms on it, then reboot.";
    return remedy;
  }
  const std::string command =
      command_for(package_family(distribution), {"", "sudo dnf upgrade --refresh 'kernel*' linux-firmware",
                                                 "sudo pacman -Syu", "sudo zypper dup"});
  if (!command.empty()) remedy.commands = {command};
  return remedy;
}

}  // namespace sage
