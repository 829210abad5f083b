#pragma once

#include <string>
#include <string_view>

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

/// A newer kernel from the distribution itself: Ubuntu's HWE kernel, Debian's backports.
[[nodiscard]] std::string newer_kernel_command(const Distribution& distribution);

}  // namespace sage
