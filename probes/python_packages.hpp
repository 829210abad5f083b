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

/// True for SageAttention and its forks, by a normalised name: "sageattention", "rdna4-sageattention", "sageattn3".
[[nodiscard]] bool names_sageattention(std::string_view name);

/// The few header lines of METADATA that are looked at.
struct PackageMetadata {
  std::string version;
  std::vector<std::string> needs;  ///< Requires-Dist without markers; those of extras are left out
  std::vector<std::string> home_pages;  ///< Home-page and Project-URL
};

/// Stops at the first empty line, where the description begins.
[[nodiscard]] PackageMetadata parse_metadata(std::string_view text);

/// The values of the "Tag:" lines of a WHEEL file.
[[nodiscard]] std::vector<std::string> parse_wheel_tags(std::string_view text);

/// Where setuptools' finder of a development install (`__editable___torch_2_9_0_finder.py`) finds `package`: the value
/// in the line `MAPPING: dict[str, str] = {'torch': '/home/u/pytorch/torch'}`. Empty when it has none.
[[nodiscard]] std::string mapped_folder(std::string_view finder, std::string_view package);

/// Existing folders that a .pth file adds to sys.path, by the rules of site.py: comments, blank lines and code lines
/// are passed over. Code is never executed.
[[nodiscard]] std::vector<std::string> folders_of_pth(const Host& host, const std::string& site,
                                                      const std::string& name);

}  // namespace sage
