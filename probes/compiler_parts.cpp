#include "probes/compiler_parts.hpp"

#include <algorithm>
#include <array>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"
#include "probes/look.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

/// hipcc.pl of Debian is 28 KiB.
constexpr std::size_t script_cap = 128 * 1024;

bool is_number_text(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "15" of "clang-15" and "clang++-15"; empty otherwise.
std::string number_in_name(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return "";
  std::string number = name.substr(dash + 1);
  return is_number_text(number) ? number : "";
}

std::string major_of(const std::string& version) {
  return version.substr(0, version.find('.'));
}

/// Versions that lib/clang below `tree` has resource folders for; of `major` only unless that is empty.
std::vector<std::string> resource_versions(const Host& host, const std::string& tree, const std::string& major) {
  std::vector<std::string> versions;
  for (const std::string& name : host.list_folder(tree + "/lib/clang").value_or({})) {
    if (is_number_text(name) && (major.empty() || major_of(name) == major)) versions.push_back(name);
  }
  return versions;
}

/// The one that says most: "15.0.6" rather than "15".
std::string longest(const std::vector<std::string>& versions) {
  const auto found = std::max_element(versions.begin(), versions.end(),
                                      [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  return found == versions.end() ? "" : *found;
}

bool one_major(const std::vector<std::string>& versions) {
  return std::all_of(versions.begin(), versions.end(),
                     [&](const std::string& version) { return major_of(version) == major_of(versions.front()); });
}

/// The clang of Debian's hipcc is written into its script: `$HIPCC="$HIP_CLANG_PATH/clang++-15"`.
std::string clang_in_script(const Host& host, const std::string& script) {
  const auto text = host.read_file(script, script_cap);
  if (!text) return "";
  constexpr std::string_view name = "/clang++-";
  const std::size_t at = text->find(name);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size();
  const std::size_t end = std::min(text->find_first_not_of("0123456789", begin), text->size());
  return end == begin ? "" : "clang++-" + text->substr(begin, end - begin);
}

constexpr auto bitcode_folders = std::to_array<const char*>(
    {"/amdgcn/bitcode", "/lib/llvm/amdgcn/bitcode", "/lib/x86_64-linux-gnu/amdgcn/bitcode",
     "/lib/aarch64-linux-gnu/amdgcn/bitcode", "/lib/amdgcn/bitcode", "/lib64/amdgcn/bitcode"});

struct HeaderName {
  const char* library;
  const char* file;
};

/// Headers that code of PyTorch extensions includes directly or through ATen and c10 (facts/wheels.md 2.10,
/// facts/bugs.md B26).
constexpr auto header_names = std::to_array<HeaderName>({
    {"hipblas", "hipblas/hipblas.h"},
    {"hipblaslt", "hipblaslt/hipblaslt.h"},
    {"hipcub", "hipcub/hipcub.hpp"},
    {"hipfft", "hipfft/hipfft.h"},
    {"hiprand", "hiprand/hiprand.h"},
    {"hipsolver", "hipsolver/hipsolver.h"},
    {"hipsparse", "hipsparse/hipsparse.h"},
    {"rocblas", "rocblas/rocblas.h"},
    {"rocprim", "rocprim/rocprim.hpp"},
    {"rocrand", "rocrand/rocrand.h"},
    {"rocsolver", "rocsolver/rocsolver.h"},
    {"thrust", "thrust/complex.h"},
});

/// The first of `folders` that holds what clang asks for.
DeviceLibraries first_device_libraries(const Host& host, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const auto names = host.list_folder(folder);
    if (!names) continue;
    const auto has = [&](const char* name) { return std::find(names->begin(), names->end(), name) != names->end(); };
    if (has("ocml.bc") && has("ockl.bc")) return {folder, targets_of_device_libraries(*names)};
  }
  return {};
}

}  // namespace

Fact<std::string> clang_behind_hipcc(const Host& host, const std::string& hipcc, const std::string& root) {
  const std::string of_tree =
      first_file(host, {root + "/lib/llvm/bin/clang++", root + "/llvm/bin/clang++", root + "/lib64/rocm/llvm/bin/clang++",
                        root + "/lib/rocm/llvm/bin/clang++"});
  if (!of_tree.empty()) return of_tree;
  for (const std::string& script : {hipcc + ".pl", hipcc}) {
    const std::string name = clang_in_script(host, script);
    if (name.empty()) continue;
    const std::string path = first_file(host, {parent_folder(script) + "/" + name, "/usr/bin/" + name});
    if (!path.empty()) return path;
    return Fact<std::string>::unknown(script + " starts " + name + ", which is not there");
  }
  return Fact<std::string>::unknown(root + " has no clang of its own, and " + hipcc + " names none");
}

Fact<std::string> clang_version_of(const Host& host, const std::string& clang) {
  const std::string real = host.canonical(clang).value_or(clang);
  std::string major = major_of(number_in_name(file_name(real)));
  if (major.empty()) major = major_of(number_in_name(file_name(clang)));
  const std::string tree = parent_folder(parent_folder(real));
  const std::vector<std::string> versions = resource_versions(host, tree, major);
  if (versions.empty()) {
    if (!major.empty()) return major;
    return Fact<std::string>::unknown(tree + "/lib/clang: no folder of a version");
  }
  if (!one_major(versions)) return Fact<std::string>::unknown(tree + "/lib/clang: more than one version");
  const std::string version = longest(versions);
  if (contains(version, ".") || !lies_in(tree, "/usr/lib")) return version;
  // Debian writes only "19" there and the whole number in a folder of links.
  const std::string exact = longest(resource_versions(host, "/usr", version));
  return exact.empty() ? version : exact;
}

Fact<std::string> llvm_behind_library(const Host& host, const std::string& library) {
  const auto elf = host.elf(library, {});
  if (!elf) return Fact<std::string>::unknown(elf.error());
  for (const std::string& needed : elf->needed) {
    for (const std::string_view stem : {"libLLVM-", "libLLVM.so."}) {
      if (!needed.starts_with(stem)) continue;
      const std::string rest = needed.substr(stem.size());
      std::string version = rest.substr(0, rest.find_first_not_of("0123456789."));
      while (version.ends_with('.')) version.pop_back();
      if (!version.empty()) return version;
    }
  }
  return Fact<std::string>::unknown(library + " is linked with no libLLVM");
}

std::vector<std::string> rocm_trees_of(const Host& host, const Toolchain& compiler,
                                       const std::vector<std::string>& rocm_roots) {
  std::vector<std::string> trees;
  const std::string root = compiler.root.value_or("");
  if (!root.empty()) trees.push_back(root);
  const bool plain = compiler.kind.is(CompilerKind::clang) && !compiler.origin.is(ToolchainOrigin::rocm_root) &&
                     !compiler.origin.is(ToolchainOrigin::rocm_sdk_wheel);
  if (!plain) return trees;
  // clang knows /opt/rocm by heart, then the newest /opt/rocm-<version>.
  const std::string usual = host.canonical("/opt/rocm").value_or("");
  if (!usual.empty()) trees.push_back(usual);
  for (const std::string& other : rocm_roots) {
    if (usual.empty() && other.starts_with("/opt/")) trees.push_back(other);
  }
  return trees;
}

std::vector<std::string> targets_of_device_libraries(const std::vector<std::string>& names) {
  constexpr std::string_view prefix = "oclc_isa_version_";
  constexpr std::string_view suffix = ".bc";
  std::vector<std::string> targets;
  for (const std::string& name : names) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size()) continue;
    targets.push_back("gfx" + name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

DeviceLibraries device_libraries_of(const Host& host, const Toolchain& compiler,
                                    const std::vector<std::string>& trees) {
  std::vector<std::string> folders;
  if (compiler.clang.known() && !compiler.clang->empty() && compiler.clang_version.known()) {
    const std::string real = host.canonical(*compiler.clang).value_or(*compiler.clang);
    const std::string llvm = parent_folder(parent_folder(real));
    for (const std::string& version : resource_versions(host, llvm, major_of(*compiler.clang_version))) {
      folders.push_back(llvm + "/lib/clang/" + version + "/lib/amdgcn/bitcode");
      folders.push_back(llvm + "/lib/clang/" + version + "/amdgcn/bitcode");
    }
    folders.push_back(llvm + "/amdgcn/bitcode");
  }
  for (const std::string& tree : trees) {
    for (const char* folder : bitcode_folders) folders.push_back(tree + folder);
  }
  return first_device_libraries(host, folders);
}

std::vector<NamedDeviceLibraries> named_device_libraries(const Host& host) {
  std::vector<NamedDeviceLibraries> named;
  const auto add = [&](const char* variable, const std::vector<const char*>& tails) {
    const std::string path = variable_of(host, variable);
    if (path.empty()) return;
    std::vector<std::string> folders;
    for (const char* tail : tails) folders.push_back(path + tail);
    DeviceLibraries libraries = first_device_libraries(host, folders);
    std::string folder = libraries.folder.empty() ? "" : host.canonical(libraries.folder).value_or(libraries.folder);
    named.push_back({variable, path, std::move(folder), std::move(libraries.targets)});
  };
  add("HIP_DEVICE_LIB_PATH", {""});
  add("ROCM_PATH", {bitcode_folders.begin(), bitcode_folders.end()});
  return named;
}

std::string hip_headers_in(const Host& host, const std::vector<std::string>& trees) {
  for (const std::string& tree : trees) {
    const std::string include = tree + "/include";
    if (is_file(host, include + "/hip/hip_runtime.h")) return include;
  }
  return "";
}

std::vector<std::string> library_headers_in(const Host& host, const std::string& include) {
  std::vector<std::string> found;
  if (include.empty()) return found;
  for (const HeaderName& header : header_names) {
    if (is_file(host, include + "/" + header.file)) found.emplace_back(header.library);
  }
  return found;
}

std::string helper_of_clang(const Host& host, const std::string& clang, const std::vector<std::string>& names) {
  const std::string folder = parent_folder(host.canonical(clang).value_or(clang));
  for (const std::string& name : names) {
    if (is_file(host, folder + "/" + name)) return folder + "/" + name;
  }
  for (const std::string& name : names) {
    const Fact<std::string> path = find_in_path(host, name);
    if (path.known() && !path->empty()) return *path;
  }
  return "";
}

}  // namespace sage
