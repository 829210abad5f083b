#include "probes/rocm.hpp"

#include <algorithm>
#include <utility>

#include "probes/library_places.hpp"
#include "probes/rocm_version.hpp"
#include "probes/wsl.hpp"

namespace sage {
namespace {

constexpr const char* hsa_stem = "libhsa-runtime64.so";
constexpr const char* rocdxg_stem = "librocdxg.so";

/// DT_RUNPATH, or DT_RPATH where there is none, with the origin written out: the folder of the path as it is opened, a
/// symbolic link in the last place not followed (facts/wheels.md 2.9).
std::vector<std::string> expanded_runpath(const ElfFacts& elf, const std::string& path) {
  const std::string origin = path.substr(0, path.rfind('/'));
  std::vector<std::string> folders = elf.runpath.empty() ? elf.rpath : elf.runpath;
  for (std::string& folder : folders) {
    for (const std::string_view token : {"$ORIGIN", "${ORIGIN}"}) {
      if (folder.starts_with(token)) folder = origin + folder.substr(token.size());
    }
  }
  return folders;
}

Fact<bool> answer(const std::map<std::string, bool>& answers, const std::string& question) {
  const auto found = answers.find(question);
  if (found == answers.end()) return Fact<bool>::unknown("not answered for " + question);
  return found->second;
}

HsaCopy describe_hsa(const Host& host, const FoundLibrary& library, const Platform& platform) {
  const bool on_wsl = has_dxg(platform);
  HsaCopy copy;
  copy.path = library.path;
  copy.origin = library.place.origin;
  SourcedVersion version = version_of_place(host, library.place);
  copy.rocm_version = std::move(version.version);
  copy.version_source = std::move(version.source);

  ElfQuery query;
  if (on_wsl) query.strings = {"librocdxg", "D3DKMT"};
  const auto elf = host.elf(library.path, query);
  if (!elf) {
    copy.runpath = Fact<std::vector<std::string>>::unknown(elf.error());
    copy.names_rocdxg = copy.names_d3dkmt = Fact<bool>::unknown(elf.error());
    return copy;
  }
  copy.runpath = expanded_runpath(*elf, library.path);
  if (on_wsl) {
    copy.names_rocdxg = answer(elf->strings, "librocdxg");
    copy.names_d3dkmt = answer(elf->strings, "D3DKMT");
  } else {
    copy.names_rocdxg = copy.names_d3dkmt = Fact<bool>::unknown("not WSL");
  }
  return copy;
}

RocdxgCopy describe_rocdxg(const Host& host, const FoundLibrary& library) {
  RocdxgCopy copy;
  copy.path = library.path;
  copy.origin = library.place.origin;
  const auto elf = host.elf(library.path, {{"hsaKmtOpenKFD", "DxgAbiCheck"}, {}});
  copy.exports_thunk = elf.ok() ? answer(elf->symbols, "hsaKmtOpenKFD") : Fact<bool>::unknown(elf.error());
  copy.exports_abi_check = elf.ok() ? answer(elf->symbols, "DxgAbiCheck") : Fact<bool>::unknown(elf.error());
  return copy;
}

Fact<std::vector<RocmRoot>> describe_roots(const Host& host, const Result<std::vector<LibraryPlace>>& roots) {
  if (!roots) return Fact<std::vector<RocmRoot>>::unknown(roots.error());
  std::vector<RocmRoot> described;
  for (const LibraryPlace& root : *roots) {
    described.push_back({root.folder, version_of_tree(host, root.folder).version});
  }
  return described;
}

/// An empty list is an answer only where /opt could be listed.
template <class T>
Fact<std::vector<T>> complete(std::vector<T> copies, const Result<std::vector<LibraryPlace>>& roots) {
  if (copies.empty() && !roots) return Fact<std::vector<T>>::unknown(roots.error());
  return copies;
}

}  // namespace

Rocm probe_rocm(const Host& host, const ProbeOptions& options, const Platform& platform, const Python& python) {
  const auto roots = rocm_roots(host, options);
  const auto places = library_places(host, roots.value_or({}), python);
  const auto cache = host.loader_cache();
  const std::vector<LoaderCacheEntry> entries = cache.value_or({});

  Rocm rocm;
  rocm.roots = describe_roots(host, roots);

  std::vector<HsaCopy> hsa;
  for (const FoundLibrary& library : find_libraries(host, places, cached_paths(entries, hsa_stem), hsa_stem)) {
    hsa.push_back(describe_hsa(host, library, platform));
  }
  rocm.hsa = complete(std::move(hsa), roots);

  const std::vector<std::string> cached = cached_paths(entries, rocdxg_stem);
  const auto behind_cache = find_libraries(host, {}, cached, rocdxg_stem);
  const auto behind_variable = find_libraries(host, library_path_places(host), {}, rocdxg_stem);
  std::vector<RocdxgCopy> rocdxg;
  for (const FoundLibrary& library : find_libraries(host, places, cached, rocdxg_stem)) {
    RocdxgCopy copy = describe_rocdxg(host, library);
    copy.in_loader_cache =
        cache.ok() ? Fact<bool>(contains_file(behind_cache, library.identity)) : Fact<bool>::unknown(cache.error());
    copy.in_library_path = contains_file(behind_variable, library.identity);
    rocdxg.push_back(std::move(copy));
  }
  rocm.rocdxg = complete(std::move(rocdxg), roots);
  return rocm;
}

}  // namespace sage
