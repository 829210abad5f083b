#include "probes/library_places.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// /usr/lib is where containers under WSL get librocdxg mounted (facts/wsl.md 2.7).
constexpr std::array distribution_folders = {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64",
                                             "/usr/lib"};
constexpr std::array environment_variables = {"VIRTUAL_ENV", "CONDA_PREFIX"};
constexpr std::array version_suffixes = {"", ".1", ".2", ".3"};

void add_root(const Host& host, const std::string& path, LibraryOrigin origin, std::vector<LibraryPlace>& roots) {
  const auto canonical = host.canonical(path);
  if (!canonical) return;
  const auto status = host.status(*canonical);
  if (!status || status->type != FileType::directory) return;
  const bool known =
      std::any_of(roots.begin(), roots.end(), [&](const LibraryPlace& root) { return root.folder == *canonical; });
  if (!known) roots.push_back({*canonical, origin, *canonical});
}

/// <prefix>/lib/python3.*/site-packages; "lib64" is a folder of its own where the distribution wants it so.
std::vector<std::string> site_folders(const Host& host, const std::string& prefix) {
  std::vector<std::string> sites;
  for (const char* library : {"/lib", "/lib64"}) {
    const auto names = host.list_folder(prefix + library);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!name.starts_with("python3.")) continue;
      const auto site = host.canonical(prefix + library + "/" + name + "/site-packages");
      if (site && std::find(sites.begin(), sites.end(), *site) == sites.end()) sites.push_back(*site);
    }
  }
  return sites;
}

/// The library folders that PyTorch's wheels bring (facts/wheels.md 2.2 to 2.4).
void add_packages(const Host& host, const std::string& site, std::vector<LibraryPlace>& places) {
  const auto names = host.list_folder(site);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string package = site + "/" + name;
    if (name == "torch") {
      places.push_back({package + "/lib", LibraryOrigin::torch_wheel, package});
    } else if (name == "_rocm_sdk_core" || name == "_rocm_sdk_devel" || name.starts_with("_rocm_sdk_libraries")) {
      places.push_back({package + "/lib", LibraryOrigin::rocm_sdk_wheel, site + "/_rocm_sdk_core"});
    }
  }
}

/// Of a file that the loader cache names and no other place.
LibraryPlace cached_place(const std::string& path) {
  const bool packaged = (path.starts_with("/usr/") && !path.starts_with("/usr/local/")) || path.starts_with("/lib");
  return {path.substr(0, path.rfind('/')),
          packaged ? Fact<LibraryOrigin>(LibraryOrigin::distribution)
                   : Fact<LibraryOrigin>::unknown("only the loader cache names it"),
          ""};
}

}  // namespace

Result<std::vector<LibraryPlace>> rocm_roots(const Host& host, const ProbeOptions& options) {
  std::vector<LibraryPlace> roots;
  const auto names = list_if_there(host, "/opt");
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (name == "rocm" || name.starts_with("rocm-")) add_root(host, "/opt/" + name, LibraryOrigin::rocm_root, roots);
  }
  for (const std::string& folder : options.search_folders) add_root(host, folder, LibraryOrigin::configured, roots);
  return roots;
}

std::vector<LibraryPlace> library_places(const Host& host, const std::vector<LibraryPlace>& roots) {
  std::vector<LibraryPlace> places;
  const auto variables = host.environment();
  for (const char* name : environment_variables) {
    const auto prefix = variables.find(name);
    if (prefix == variables.end() || !prefix->second.starts_with('/')) continue;
    for (const std::string& site : site_folders(host, prefix->second)) add_packages(host, site, places);
  }
  for (const LibraryPlace& root : roots) {
    for (const char* library : {"/lib", "/lib64"}) places.push_back({root.folder + library, root.origin, root.tree});
  }
  for (const char* folder : distribution_folders) places.push_back({folder, LibraryOrigin::distribution, ""});
  for (LibraryPlace& place : library_path_places(host)) places.push_back(std::move(place));
  return places;
}

std::vector<LibraryPlace> library_path_places(const Host& host) {
  const auto variables = host.environment();
  const auto value = variables.find("LD_LIBRARY_PATH");
  if (value == variables.end()) return {};
  std::string text = value->second;
  std::replace(text.begin(), text.end(), ';', ':');  // ld.so(8): both separate
  std::vector<LibraryPlace> places;
  for (const std::string_view folder : split(text, ':')) {
    if (!folder.empty()) places.push_back({std::string(folder), LibraryOrigin::library_path, ""});
  }
  return places;
}

Result<FileIdentity> identify(const Host& host, const std::string& path) {
  const auto status = host.status(path);
  if (!status) return status.error();
  if (status->type != FileType::regular) return Error{EINVAL, path + ": not a regular file"};
  auto canonical = host.canonical(path);
  if (!canonical) return canonical.error();
  return FileIdentity{status->inode, status->size, std::move(canonical).value()};
}

std::vector<std::string> cached_paths(const std::vector<LoaderCacheEntry>& cache, std::string_view stem) {
  std::vector<std::string> paths;
  for (const LoaderCacheEntry& entry : cache) {
    if (entry.soname == stem || entry.soname.starts_with(std::string(stem) + ".")) paths.push_back(entry.path);
  }
  return paths;
}

std::vector<FoundLibrary> find_libraries(const Host& host, const std::vector<LibraryPlace>& places,
                                         const std::vector<std::string>& cached, std::string_view stem) {
  std::vector<FoundLibrary> found;
  const auto look = [&](const std::string& path, const LibraryPlace& place) {
    auto identity = identify(host, path);
    if (!identity) return;
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const FoundLibrary& library) { return library.identity.same_as(*identity); });
    if (!known) found.push_back({path, place, std::move(identity).value()});
  };
  for (const LibraryPlace& place : places) {
    for (const char* suffix : version_suffixes) look(place.folder + "/" + std::string(stem) + suffix, place);
  }
  for (const std::string& path : cached) look(path, cached_place(path));
  return found;
}

}  // namespace sage
