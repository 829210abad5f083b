#include "probes/loader/extensions.hpp"

#include <algorithm>
#include <array>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

constexpr std::size_t most_extensions = 8;
constexpr std::size_t most_of_one_package = 4;
constexpr std::size_t most_looked_at = 32;

/// Where a package keeps its compiled modules. An empty folder is the site itself.
struct ExtensionPlace {
  std::string_view folder;
  std::string_view prefix;
  bool imports_torch = true;
};
constexpr std::array extension_places = {
    ExtensionPlace{"", "flash_attn_2_cuda"},   ExtensionPlace{"sageattention", "_"},
    ExtensionPlace{"spas_sage_attn", "_"},     ExtensionPlace{"aiter/jit", "module_"},
    ExtensionPlace{"xformers", "_C"},          ExtensionPlace{"bitsandbytes", "libbitsandbytes_rocm"},
    ExtensionPlace{"vllm", "_"},               ExtensionPlace{"torchvision", "_C"},
    ExtensionPlace{"torchaudio/lib", "_"},     ExtensionPlace{"cupy_backends/cuda/api", "runtime", false},
    ExtensionPlace{"jax_plugins/xla_rocm7", "xla_rocm", false},
};

bool needs_hip(const ElfFacts& elf) {
  return std::any_of(elf.needed.begin(), elf.needed.end(),
                     [](const std::string& name) { return name.starts_with("libamdhip64.so"); });
}

std::vector<std::string> modules_in(LoaderFiles& files, const std::string& folder, std::string_view prefix) {
  std::vector<std::string> found;
  std::size_t looked_at = 0;
  for (const std::string& name : files.host().list_folder(folder).value_or({})) {
    if (!name.starts_with(prefix) || !name.ends_with(".so") || ++looked_at > most_looked_at) continue;
    const LoaderFile* file = files.file(folder + "/" + name);
    if (file == nullptr || file->elf == nullptr || !needs_hip(*file->elf)) continue;
    found.push_back(folder + "/" + name);
    if (found.size() == most_of_one_package) break;
  }
  return found;
}

/// Of facts/wheels.md 2.6, those that are in the rocm-sdk wheels; `library` is a part of the file name.
constexpr auto preload_order = std::to_array<std::string_view>(
    {"libamd_comgr.so", "libamd_smi.so", "libamdhip64.so", "libhiprtc.so", "libhipblas.so", "libhipfft.so",
     "libhiprand.so", "libhipsparse.so", "libhipsparselt.so", "libhipsolver.so", "libhipblaslt.so", "libMIOpen.so",
     "librocm_smi64.so", "librocprofiler-sdk.so", "libroctx64.so", "librccl.so"});

void add_preloads(LoaderFiles& files, const PythonEnvironment& environment, std::vector<std::string>& opened) {
  std::vector<std::pair<std::string, std::vector<std::string>>> folders;
  for (const std::string& folder : environment.sdk_folders.value_or({})) {
    if (file_name(folder) == "_rocm_sdk_devel") continue;
    folders.emplace_back(folder + "/lib", files.host().list_folder(folder + "/lib").value_or({}));
  }
  for (const std::string_view library : preload_order) {
    for (const auto& [folder, names] : folders) {
      const auto name = std::find_if(names.begin(), names.end(), [&](const std::string& one) {
        return one.starts_with(library) && (one.size() == library.size() || one[library.size()] == '.');
      });
      if (name == names.end()) continue;
      opened.push_back(folder + "/" + *name);
      break;
    }
  }
}

/// What rocm_sdk.find_libraries("amdhip64") gives: the file of core, named by its SONAME; empty where there is no SDK.
std::string sdk_runtime(LoaderFiles& files, const PythonEnvironment& environment) {
  for (const std::string& folder : environment.sdk_folders.value_or({})) {
    if (file_name(folder) != "_rocm_sdk_core") continue;
    for (const std::string& name : files.host().list_folder(folder + "/lib").value_or({})) {
      if (name.starts_with("libamdhip64.so")) return folder + "/lib/" + name;
    }
  }
  return "";
}

/// What `hipconfig --path` prints: the tree of the program, links resolved. The script of the SDK wheels starts the
/// program of devel where that is expanded, else that of core (facts/wheels.md 2.4).
std::string root_by_hipconfig(const Host& host, const PythonEnvironment& environment) {
  const std::string program = find_in_path(host, "hipconfig").value_or("");
  if (program.empty()) return "";
  const std::string root = parent_folder(parent_folder(host.canonical(program).value_or(program)));
  if (root != environment.prefix) return root;
  const char* tree = environment.devel.is(DevelState::expanded) ? "_rocm_sdk_devel" : "_rocm_sdk_core";
  for (const std::string& folder : environment.sdk_folders.value_or({})) {
    if (file_name(folder) == tree) return folder;
  }
  return "";
}

}  // namespace

std::vector<HipExtension> hip_extensions(LoaderFiles& files, const PythonEnvironment& environment) {
  std::vector<HipExtension> found;
  for (const PythonSite& site : environment.sites.value_or({})) {
    for (const ExtensionPlace& place : extension_places) {
      const std::string folder = place.folder.empty() ? site.path : site.path + "/" + std::string(place.folder);
      if (!files.is_folder(folder)) continue;
      for (std::string& module : modules_in(files, folder, place.prefix)) {
        if (found.size() < most_extensions) found.push_back({std::move(module), place.imports_torch});
      }
    }
  }
  return found;
}

std::vector<std::string> torch_libraries(LoaderFiles& files, const PythonEnvironment& environment,
                                         const TorchInstall& torch) {
  std::vector<std::string> opened;
  const std::vector<std::string> names = files.host().list_folder(torch.folder).value_or({});
  const bool preloads = std::find(names.begin(), names.end(), "_rocm_init.py") != names.end();
  if (preloads) add_preloads(files, environment, opened);

  std::vector<std::string> own = {torch.folder + "/lib/libtorch_global_deps.so"};
  for (const std::string& name : names) {
    if (name.starts_with("_C.") && name.ends_with(".so")) own.push_back(torch.folder + "/" + name);
  }
  own.push_back(torch.folder + "/lib/libtorch_hip.so");  // by libtorch.so, where the others are not known
  const std::size_t before = opened.size();
  for (std::string& path : own) {
    if (files.file(path) != nullptr) opened.push_back(std::move(path));
  }
  // Preloads alone are no torch.
  if (opened.size() == before) opened.clear();
  return opened;
}

std::string ctypes_module(LoaderFiles& files, const PythonEnvironment& environment) {
  if (!environment.version.known()) return "";
  const Host& host = files.host();
  std::vector<std::string> prefixes = {environment.prefix};
  const std::optional<std::string> home = environment.home.value_or(std::nullopt);
  if (home && home->starts_with('/')) prefixes.push_back(parent_folder(*home));
  if (const auto real = host.canonical(environment.executable)) {
    prefixes.push_back(parent_folder(parent_folder(*real)));
  }
  for (const std::string& prefix : prefixes) {
    for (const char* library : {"/lib", "/lib64"}) {
      const std::string folder = prefix + library + "/python" + *environment.version + "/lib-dynload";
      for (const std::string& name : host.list_folder(folder).value_or({})) {
        if (name.starts_with("_ctypes.") && name.ends_with(".so")) return folder + "/" + name;
      }
    }
  }
  return "";
}

std::string triton_library(LoaderFiles& files, const PythonEnvironment& environment,
                           const std::vector<std::string>& mapped) {
  constexpr const char* name = "libamdhip64.so";
  const Host& host = files.host();
  const TritonInstall triton = environment.triton.known() && !environment.triton->empty() ? environment.triton->front()
                                                                                        : TritonInstall();
  const auto there = [&](const std::string& path) { return files.file(path) != nullptr; };

  if (const std::string given = variable_of(host, "TRITON_LIBHIP_PATH"); !given.empty()) {
    const bool right = given.ends_with(name) || (triton.takes_numbered_name.is(true) && file_name(given).starts_with(name));
    return right && there(given) ? given : "";
  }
  if (triton.takes_sdk_first.is(true)) {
    if (const std::string of_sdk = sdk_runtime(files, environment); !of_sdk.empty()) return of_sdk;
  }
  for (const std::string& path : mapped) {
    if (contains(file_name(path), name)) return path;
  }
  std::vector<std::string> folders;
  for (const PythonSite& site : environment.sites.value_or({})) folders.push_back(site.path + "/triton/backends/amd/lib");
  for (const PythonSite& site : environment.sites.value_or({})) folders.push_back(site.path + "/torch/lib");
  const std::string library_path = variable_of(host, "LD_LIBRARY_PATH");
  for (const std::string_view folder : split(library_path, ':')) folders.emplace_back(folder);
  if (!triton.asks_hipconfig.is(false)) {
    for (const std::string& root : {variable_of(host, "HIP_PATH"), root_by_hipconfig(host, environment),
                                    variable_of(host, "ROCM_PATH")}) {
      if (!root.empty()) folders.push_back(root + "/lib");
    }
  }
  for (const std::string& folder : folders) {
    if (folder.starts_with('/') && there(folder + "/" + name)) return folder + "/" + name;
  }
  for (const std::string& path : files.cached(name)) {
    if (there(path)) return path;
  }
  const std::string last = std::string("/opt/rocm/lib/") + name;
  return there(last) ? last : "";
}

}  // namespace sage
