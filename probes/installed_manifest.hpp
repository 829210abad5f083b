#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"

namespace sage {

inline constexpr std::uint32_t manifest_version = 1;
inline constexpr std::string_view manifest_name = "manifest.json";

/// More than a manifest ever has.
inline constexpr std::size_t most_manifest_bytes = 4u << 20;

/// A file that a manifest lists, relative to its folder.
struct InstalledFile {
  std::string file;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("file", &InstalledFile::file);
  }
};

struct InstalledTarget {
  std::string target;
  std::vector<InstalledFile> kernels;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("target", &InstalledTarget::target);
    visit("kernels", &InstalledTarget::kernels);
  }
};

/// The part of an installation's manifest (doctor/build/install/manifest.hpp writes all of it) that a probe needs.
struct InstalledManifest {
  std::string tool_version;
  std::string mark;
  std::string source_sha256;
  InstalledFile library;
  std::vector<InstalledTarget> targets;
  std::vector<InstalledFile> other_files;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("tool_version", &InstalledManifest::tool_version);
    visit("mark", &InstalledManifest::mark);
    visit("source_sha256", &InstalledManifest::source_sha256);
    visit("library", &InstalledManifest::library);
    visit("targets", &InstalledManifest::targets);
    visit("other_files", &InstalledManifest::other_files);
  }

  /// Every file that must be there, in the manifest's order.
  [[nodiscard]] std::vector<std::string> files() const;
};

/// Errors: not JSON, too long, another version, a wrong type, a file outside of the folder.
[[nodiscard]] Result<InstalledManifest> parse_installed_manifest(std::string_view text);

}  // namespace sage
