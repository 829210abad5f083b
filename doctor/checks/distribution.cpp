#include "doctor/checks/distribution.hpp"

#include <array>

#include "probes/base/text.hpp"

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

std::string newer_kernel_command(const Distribution& distribution) {
  const std::string version = distribution.version_id.value_or("");
  if (distribution.id.is("ubuntu")) {
    return version.empty() ? "" : "sudo apt update && sudo apt install linux-generic-hwe-" + version;
  }
  if (distribution.id.is("debian")) {
    return "sudo apt update && sudo apt install -t \"$(. /etc/os-release; echo $VERSION_CODENAME)-backports\" "
           "linux-image-amd64 firmware-amd-graphics";
  }
  return command_for(package_family(distribution), {"", "sudo dnf upgrade --refresh 'kernel*' linux-firmware",
                                                    "sudo pacman -Syu", "sudo zypper dup"});
}

}  // namespace sage
