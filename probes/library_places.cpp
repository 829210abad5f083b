#include "probes/library_places.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// /usr/lib is where containers under WSL get librocdxg mounted (facts/wsl.md 2.7).
constexpr std::array distribution_folders = {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64",
                                             "/usr/lib"};
constexpr std::size_t most_configured = 256;
constexpr std::size_t most_configuration_files = 64;

/// The SONAME majors of the libraries so far and the next ones (facts/wheels.md 2.6). Asking for each name costs less
/// than listing /usr/lib.
struct Versions {
  std::string_view stem;
  std::array<std::string_view, 6> suffixes;
};
constexpr std::array version_table = {
    Versions{"libamdhip64.so", {"", ".4", ".5", ".6", ".7", ".8"}},
    Versions{"libhiprtc.so", {"", ".4", ".5", ".6", ".7", ".8"}},
};
constexpr Versions other_versions = {"", {"", ".1", ".2", ".3", ".4", ""}};

void add_root(const Host& host, const std::string& path, LibraryOrigin origin, std::vector<LibraryPlace>& roots) {
  const auto canonical = host.canonical(path);
  if (!canonical) return;
  const auto status = host.status(*canonical);
  if (!status || status->type != FileType::directory) return;
  const bool known =
      std::any_of(roots.begin(), roots.end(), [&](const LibraryPlace& root) { return root.folder == *canonical; });
  if (!known) roots.push_back({*canonical, origin, *canonical});
}

/// The library folders that PyTorch's wheels bring (facts/wheels.md 2.2 to 2.4).
void add_packages(const PythonEnvironment& environment, std::vector<LibraryPlace>& places) {
  for (const TorchInstall& torch : environment.torch.value_or({})) {
    places.push_back({torch.folder + "/lib", LibraryOrigin::torch_wheel, torch.folder});
  }
  for (const std::string& folder : environment.sdk_folders.value_or({})) {
    const std::string name = file_name(folder);
    if (name != "_rocm_sdk_core" && name != "_rocm_sdk_devel" && !name.starts_with("_rocm_sdk_libraries")) continue;
    const std::string site = folder.substr(0, folder.rfind('/'));
    places.push_back({folder + "/lib", LibraryOrigin::rocm_sdk_wheel, site + "/_rocm_sdk_core"});
  }
}

/// Of a folder that only the loader's cache or configuration names.
LibraryPlace loader_place(const std::string& folder) {
  const std::string inside = folder + "/";
  const bool packaged = (inside.starts_with("/usr/") && !inside.starts_with("/usr/local/")) || inside.starts_with("/lib");
  return {folder,
          packaged ? Fact<LibraryOrigin>(LibraryOrigin::distribution)
                   : Fact<LibraryOrigin>::unknown("only the loader's configuration names it"),
          ""};
}

/// Folders in a file like /etc/ld.so.conf; "include" lines are left to the caller.
void add_configured(std::string_view text, std::vector<LibraryPlace>& places) {
  for (std::string_view line : lines(text)) {
    line = trim(line.substr(0, line.find('#')));
    if (line.starts_with('/') && places.size() < most_configured) places.push_back(loader_place(std::string(line)));
  }
}

/// Every distribution's /etc/ld.so.conf includes ld.so.conf.d/*.conf and little else. A folder named there counts even
/// before ldconfig(8) was run.
std::vector<LibraryPlace> configured_places(const Host& host) {
  std::vector<LibraryPlace> places;
  add_configured(host.read_file("/etc/ld.so.conf").value_or(""), places);
  std::size_t files = 0;
  for (const std::string& name : host.list_folder("/etc/ld.so.conf.d").value_or({})) {
    if (!name.ends_with(".conf") || ++files > most_configuration_files) continue;
    add_configured(host.read_file("/etc/ld.so.conf.d/" + name).value_or(""), places);
  }
  return places;
}

std::vector<LibraryPlace> private_places(const Host& host) {
  std::vector<LibraryPlace> places;
  const auto variables = host.environment();
  const auto conda = variables.find("CONDA_PREFIX");
  if (conda != variables.end() && conda->second.starts_with('/')) {
    places.push_back({conda->second + "/lib", LibraryOrigin::conda, ""});
  }
  const std::string home = host.process().home;
  if (home.starts_with('/')) {
    for (const char* library : {"/.local/lib", "/.local/lib64"}) {
      places.push_back({home + library, Fact<LibraryOrigin>::unknown("a folder of the user's own"), ""});
    }
  }
  return places;
}

/// The folders among them that exist, each once.
std::vector<LibraryPlace> existing(const Host& host, std::vector<LibraryPlace> places) {
  std::vector<std::string> seen;
  std::erase_if(places, [&](const LibraryPlace& place) {
    const auto status = host.status(place.folder);
    if (!status || status->type != FileType::directory) return true;
    std::string canonical = host.canonical(place.folder).value_or(place.folder);
    if (std::find(seen.begin(), seen.end(), canonical) != seen.end()) return true;
    seen.push_back(std::move(canonical));
    return false;
  });
  return places;
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

std::vector<LibraryPlace> library_places(const Host& host, const std::vector<LibraryPlace>& roots,
                                         const Python& python) {
  std::vector<LibraryPlace> places;
  for (const PythonEnvironment& environment : python.environments.value_or({})) add_packages(environment, places);
  for (const LibraryPlace& root : roots) {
    for (const char* library : {"/lib", "/lib64"}) places.push_back({root.folder + library, root.origin, root.tree});
  }
  for (const char* folder : distribution_folders) places.push_back({folder, LibraryOrigin::distribution, ""});
  for (auto more : {library_path_places(host), private_places(host), configured_places(host)}) {
    std::move(more.begin(), more.end(), std::back_inserter(places));
  }
  return existing(host, std::move(places));
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
  std::vector<LoaderCacheEntry> entries;
  for (const LoaderCacheEntry& entry : cache) {
    if (entry.soname == stem || entry.soname.starts_with(std::string(stem) + ".")) entries.push_back(entry);
  }
  // By name, so that a capture, which keeps the order of the paths of each name alone, gives the same.
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.soname < b.soname; });
  std::vector<std::string> paths;
  for (const LoaderCacheEntry& entry : entries) paths.push_back(entry.path);
  return paths;
}

std::vector<FoundLibrary> find_libraries(const Host& host, const std::vector<LibraryPlace>& places,
                                         const std::vector<std::string>& cached, std::string_view stem) {
  std::vector<FoundLibrary> found;
  const auto look = [&](const std::string& path, const LibraryPlace& place) {
    auto identity = identify(host, path);
    if (!identity) return;
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const FoundLibrary& library) { return library.identity.same_as(*identity); });
    if (known == found.end()) {
      found.push_back({path, {}, place, std::move(identity).value()});
    } else if (known->path != path) {
      known->other_paths.push_back(path);
    }
  };
  const auto row = std::find_if(version_table.begin(), version_table.end(),
                                [&](const Versions& versions) { return versions.stem == stem; });
  const Versions& versions = row == version_table.end() ? other_versions : *row;
  for (const LibraryPlace& place : places) {
    for (std::size_t i = 0; i < versions.suffixes.size(); ++i) {
      if (i > 0 && versions.suffixes[i].empty()) continue;
      look(place.folder + "/" + std::string(stem) + std::string(versions.suffixes[i]), place);
    }
  }
  for (const std::string& path : cached) look(path, loader_place(path.substr(0, path.rfind('/'))));
  return found;
}

SourcedVersion version_of_place(const Host& host, const LibraryPlace& place) {
  if (place.tree.empty()) {
    const auto unknown = Fact<std::string>::unknown("it belongs to no ROCm tree or wheel");
    return {unknown, unknown};
  }
  if (place.origin.is(LibraryOrigin::torch_wheel)) return version_of_torch(host, place.tree);
  if (place.origin.is(LibraryOrigin::rocm_sdk_wheel)) return version_of_sdk(host, place.tree);
  return version_of_tree(host, place.tree);
}

bool contains_file(const std::vector<FoundLibrary>& libraries, const FileIdentity& file) {
  return std::any_of(libraries.begin(), libraries.end(),
                     [&](const FoundLibrary& library) { return library.identity.same_as(file); });
}

}  // namespace sage
