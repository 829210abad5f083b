#include "probes/installed_manifest.hpp"

#include "probes/base/paths.hpp"
#include "probes/manifest_json.hpp"

namespace sage {

std::vector<std::string> InstalledManifest::files() const {
  std::vector<std::string> all = {library.file};
  for (const InstalledTarget& target : targets) {
    for (const InstalledFile& kernel : target.kernels) all.push_back(kernel.file);
  }
  for (const InstalledFile& other : other_files) all.push_back(other.file);
  return all;
}

Result<InstalledManifest> parse_installed_manifest(std::string_view text) {
  Result<InstalledManifest> manifest = parse_manifest_as<InstalledManifest>(text);
  if (!manifest) return manifest;
  for (const std::string& file : manifest->files()) {
    if (!safe_relative_path(file)) return Error{0, "it lists a file that is not below the installation"};
  }
  return manifest;
}

}  // namespace sage
