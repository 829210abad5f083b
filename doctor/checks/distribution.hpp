#pragma once

#include <string>
#include <string_view>

#include "doctor/checks/finding.hpp"
#include "probes/facts/platform.hpp"

namespace sage {

/// The package manager's family, by ID and ID_LIKE of os-release.
enum class PackageFamily { debian, fedora, arch, suse, unknown };

[[nodiscard]] PackageFamily package_family(const Distribution& distribution);

/// A command in the wording of each family; empty where a family has none.
struct FamilyCommand {
  std::string_view debian;
  std::string_view fedora;
  std::string_view arch;
  std::string_view suse;
};

/// The command for this family; empty when the family is unknown or has none.
[[nodiscard]] std::string command_for(PackageFamily family, const FamilyCommand& commands);

/// Rebuilds the boot image, in which a copy of the modprobe configuration and of firmware lies.
inline constexpr FamilyCommand rebuild_boot_image = {"sudo update-initramfs -u -k all",
                                                     "sudo dracut --regenerate-all --force", "sudo mkinitcpio -P",
                                                     "sudo dracut --regenerate-all --force"};

/// True when ID or ID_LIKE names `name`.
[[nodiscard]] bool is_or_derives_from(const Distribution& distribution, std::string_view name);

/// A kernel of version `wanted` or newer ("6.11"; empty: just a newer one) with its firmware, from the distribution
/// itself where it has one.
[[nodiscard]] Remedy newer_kernel(const Distribution& distribution, std::string_view wanted);

}  // namespace sage
