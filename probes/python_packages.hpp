#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The distribution whose dist-info or egg-info is called `name` in `site`; nullopt for any other name, and for
/// distributions that have nothing to do with PyTorch on ROCm.
[[nodiscard]] std::optional<PythonPackage> package_of_interest(const std::string& site, const std::string& name);

/// The few header lines of METADATA that are looked at.
struct PackageMetadata {
  std::string version;
  std::vector<std::string> needs;  ///< Requires-Dist without markers; those of extras are left out
};

/// Stops at the first empty line, where the description begins.
[[nodiscard]] PackageMetadata parse_metadata(std::string_view text);

/// The values of the "Tag:" lines of a WHEEL file.
[[nodiscard]] std::vector<std::string> parse_wheel_tags(std::string_view text);

/// Existing folders that a .pth file adds to sys.path, by the rules of site.py: comments, blank lines and code lines
/// are passed over. Code is never executed.
[[nodiscard]] std::vector<std::string> folders_of_pth(const Host& host, const std::string& site,
                                                      const std::string& name);

}  // namespace sage
