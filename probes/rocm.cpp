#include "probes/rocm.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/library_places.hpp"
#include "probes/torch_version.hpp"
#include "probes/wsl.hpp"

namespace sage {
namespace {

constexpr const char* hsa_stem = "libhsa-runtime64.so";
constexpr const char* rocdxg_stem = "librocdxg.so";

/// A version and the file that said so.
struct SourcedVersion {
  Fact<std::string> version;
  Fact<std::string> source;
};

SourcedVersion unknown_version(const Error& why) {
  return {Fact<std::string>::unknown(why), Fact<std::string>::unknown(why)};
}

/// "7.2.0" of "7.2.0-47"; empty when the text does not begin with a number.
std::string leading_version(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string version(text.substr(0, end));
  while (version.ends_with('.')) version.pop_back();
  return version;
}

SourcedVersion version_of_tree(const Host& host, const std::string& tree) {
  Error why;
  for (const char* name : {"/.info/version", "/.info/version-dev"}) {
    const std::string file = tree + name;
    const auto text = host.read_file(file);
    if (!text) {
      if (why.text.empty()) why = text.error();
      continue;
    }
    const std::string version = leading_version(trim(*text));
    if (!version.empty()) return {version, file};
    why = Error{0, file + ": not a version"};
  }
  return unknown_version(why);
}

/// The ROCm that a torch wheel was made with. `rocm` is exact, the local part of the version is next; `hip` agrees with
/// ROCm in its first two numbers for every ROCm that wheels with their own runtime were made of, and its third is a
/// build number (facts/wheels.md 2.6).
SourcedVersion version_of_torch(const Host& host, const std::string& package) {
  const std::string file = package + "/version.py";
  const auto text = host.read_file(file);
  if (!text) return unknown_version(text.error());
  const TorchVersion torch = parse_torch_version(*text);
  const std::string rocm = leading_version(torch.rocm.value_or(""));
  std::string local;
  std::string hip = leading_version(torch.hip.value_or(""));
  const std::string version = torch.version.value_or("");
  if (const std::size_t mark = version.find("+rocm"); mark != std::string::npos) {
    local = leading_version(std::string_view(version).substr(mark + 5));
  }
  const std::size_t build_number = hip.find('.', std::min(hip.find('.') + 1, hip.size()));
  if (build_number != std::string::npos) hip.resize(build_number);
  for (const std::string& said : {rocm, local, hip}) {
    if (!said.empty()) return {said, file};
  }
  return unknown_version({0, file + ": names no ROCm version"});
}

/// The version of an SDK wheel: the tree inside says it, else the name of the wheel's dist-info folder.
SourcedVersion version_of_sdk(const Host& host, const std::string& package) {
  SourcedVersion by_tree = version_of_tree(host, package);
  if (by_tree.version.known()) return by_tree;
  const std::string site = package.substr(0, package.rfind('/'));
  const auto names = host.list_folder(site);
  if (!names) return by_tree;
  constexpr std::string_view prefix = "rocm_sdk_core-";
  for (const std::string& name : *names) {
    if (!to_lower(name).starts_with(prefix) || !name.ends_with(".dist-info")) continue;
    const std::string version = leading_version(std::string_view(name).substr(prefix.size()));
    if (!version.empty()) return {version, site + "/" + name};
  }
  return by_tree;
}

SourcedVersion version_of(const Host& host, const LibraryPlace& place) {
  if (place.tree.empty()) return unknown_version({0, "it belongs to no ROCm tree or wheel"});
  if (place.origin.is(LibraryOrigin::torch_wheel)) return version_of_torch(host, place.tree);
  if (place.origin.is(LibraryOrigin::rocm_sdk_wheel)) return version_of_sdk(host, place.tree);
  return version_of_tree(host, place.tree);
}

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
  SourcedVersion version = version_of(host, library.place);
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

bool contains_file(const std::vector<FoundLibrary>& libraries, const FileIdentity& file) {
  return std::any_of(libraries.begin(), libraries.end(),
                     [&](const FoundLibrary& library) { return library.identity.same_as(file); });
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

Rocm probe_rocm(const Host& host, const ProbeOptions& options, const Platform& platform) {
  const auto roots = rocm_roots(host, options);
  const auto places = library_places(host, roots.value_or({}));
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
