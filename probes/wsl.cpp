#include "probes/wsl.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/dids_conf.hpp"
#include "probes/library_places.hpp"
#include "probes/look.hpp"
#include "probes/search_path.hpp"
#include "probes/wsl_conf.hpp"
#include "probes/wsl_windows.hpp"

namespace sage {
namespace {

constexpr std::uint32_t microsoft_vendor_id = 0x1414;
constexpr std::uint32_t software_type_bit = 1u << 2;
constexpr std::uint32_t hybrid_integrated_type_bit = 1u << 5;

constexpr const char* library_folder = "/usr/lib/wsl/lib";

/// Where libdxcore.so lies: WSL's own mount, what containers get it mounted as, the distribution's folder.
constexpr std::array dxcore_folders = {library_folder, "/usr/lib", "/usr/lib/x86_64-linux-gnu"};
/// Of these the loader looks into without being told to (ld.so(8); Debian adds the multiarch folders).
constexpr std::array default_folders = {
    "/usr/lib", "/lib", "/usr/lib64", "/lib64", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"};

/// What librocdxg can't do without: ROCm/librocdxg shared/src/dxcore_loader.cpp@3cde6eb.
constexpr std::array mandatory_symbols = {
    "D3DKMTCreateAllocation2",
    "D3DKMTDestroyAllocation2",
    "D3DKMTMapGpuVirtualAddress",
    "D3DKMTReserveGpuVirtualAddress",
    "D3DKMTFreeGpuVirtualAddress",
    "D3DKMTCreateDevice",
    "D3DKMTDestroyDevice",
    "D3DKMTEnumAdapters2",
    "D3DKMTQueryAdapterInfo",
    "D3DKMTCreateContextVirtual",
    "D3DKMTDestroyContext",
    "D3DKMTSubmitCommand",
    "D3DKMTCreateSynchronizationObject2",
    "D3DKMTDestroySynchronizationObject",
    "D3DKMTQueryStatistics",
    "D3DKMTEscape",
    "D3DKMTLock2",
    "D3DKMTUnlock2",
    "D3DKMTCreatePagingQueue",
    "D3DKMTDestroyPagingQueue",
    "D3DKMTWaitForSynchronizationObjectFromGpu",
    "D3DKMTSignalSynchronizationObjectFromGpu",
    "D3DKMTWaitForSynchronizationObjectFromCpu",
    "D3DKMTQueryClockCalibration",
    "D3DKMTMakeResident",
    "D3DKMTEvict",
    "D3DKMTShareObjects",
    "D3DKMTQueryResourceInfoFromNtHandle",
    "D3DKMTOpenResourceFromNtHandle",
    "D3DKMTCreateHwQueue",
    "D3DKMTDestroyHwQueue",
    "D3DKMTSubmitCommandToHwQueue",
};

// ---- adapters

template <class T>
Fact<T> answered(const std::optional<T>& value) {
  return value ? Fact<T>(*value) : Fact<T>::unknown("the adapter did not answer");
}

bool is_software(const DxgAdapterReply& reply) {
  return (reply.type_bits.value_or(0) & software_type_bit) != 0 || reply.vendor_id == microsoft_vendor_id;
}

DxgAdapter adapter_of(const DxgAdapterReply& reply) {
  DxgAdapter adapter;
  adapter.vendor_id = answered(reply.vendor_id);
  adapter.device_id = answered(reply.device_id);
  adapter.revision = answered(reply.revision);
  adapter.name = answered(reply.name);
  adapter.dedicated_bytes = answered(reply.dedicated_bytes);
  adapter.shared_bytes = answered(reply.shared_bytes);
  adapter.driver_version = answered(reply.driver_version);
  adapter.wddm_version = answered(reply.wddm_version);
  adapter.hybrid_integrated = reply.type_bits ? Fact<bool>((*reply.type_bits & hybrid_integrated_type_bit) != 0)
                                              : Fact<bool>::unknown("the adapter did not answer");
  return adapter;
}

Fact<std::vector<DxgAdapter>> probe_adapters(const Host& host) {
  const auto replies = host.dxg_adapters();
  if (!replies) return Fact<std::vector<DxgAdapter>>::unknown(replies.error());
  std::vector<DxgAdapter> adapters;
  for (const DxgAdapterReply& reply : *replies) {
    if (!is_software(reply)) adapters.push_back(adapter_of(reply));
  }
  return adapters;
}

// ---- libdxcore

/// The libdxcore.so that dlopen("libdxcore.so") takes, in the loader's order.
std::optional<std::string> dxcore_of_loader(const Host& host, const Result<std::vector<LoaderCacheEntry>>& cache) {
  std::vector<std::string> candidates;
  for (const LibraryPlace& place : library_path_places(host)) candidates.push_back(place.folder + "/libdxcore.so");
  if (cache.ok()) {
    for (const std::string& path : cached_paths(*cache, "libdxcore.so")) candidates.push_back(path);
  }
  for (const char* folder : default_folders) candidates.push_back(std::string(folder) + "/libdxcore.so");
  const auto found =
      std::find_if(candidates.begin(), candidates.end(), [&](const std::string& path) { return is_file(host, path); });
  if (found == candidates.end()) return std::nullopt;
  return *found;
}

void probe_dxcore(const Host& host, const Result<std::vector<LoaderCacheEntry>>& cache, Wsl& wsl) {
  std::string path;
  if (const auto by_loader = dxcore_of_loader(host, cache)) {
    path = *by_loader;
    wsl.dxcore_findable = true;
  } else {
    for (const char* folder : dxcore_folders) {
      const std::string candidate = std::string(folder) + "/libdxcore.so";
      if (path.empty() && is_file(host, candidate)) path = candidate;
    }
    wsl.dxcore_findable = cache.ok() ? Fact<bool>(false) : Fact<bool>::unknown(cache.error());
  }
  wsl.dxcore_path = path;
  if (path.empty()) {
    wsl.dxcore_missing_symbols = Fact<std::vector<std::string>>::unknown("no libdxcore.so");
    return;
  }
  const auto elf = host.elf(path, {{mandatory_symbols.begin(), mandatory_symbols.end()}, {}});
  if (!elf) {
    wsl.dxcore_missing_symbols = Fact<std::vector<std::string>>::unknown(elf.error());
    return;
  }
  std::vector<std::string> missing;
  for (const char* symbol : mandatory_symbols) {
    const auto answer = elf->symbols.find(symbol);
    if (answer == elf->symbols.end()) {
      wsl.dxcore_missing_symbols = Fact<std::vector<std::string>>::unknown(path + ": not answered for " + symbol);
      return;
    }
    if (!answer->second) missing.emplace_back(symbol);
  }
  wsl.dxcore_missing_symbols = std::move(missing);
}

// ---- configuration

Result<WslConf> read_wsl_conf(const Host& host) {
  const auto text = host.read_file("/etc/wsl.conf");
  if (text.ok()) return WslConf(*text);
  if (is_absent(text.error())) return WslConf("");
  return text.error();
}

void probe_conf(const Result<WslConf>& conf, Wsl& wsl) {
  const auto flag = [&](const char* section, const char* key) {
    return conf.ok() ? Fact<bool>(conf->flag(section, key, true)) : Fact<bool>::unknown(conf.error());
  };
  wsl.conf_gpu_enabled = flag("gpu", "enabled");
  wsl.conf_append_lib_path = flag("gpu", "appendLibPath");
  wsl.conf_ldconfig = flag("automount", "ldconfig");
  wsl.conf_interop = flag("interop", "enabled");
}

/// librocdxg derives the path from its own: <folder>/../share/rocdxg/dids.conf (facts/wsl.md 2.5).
Fact<std::vector<AllowedDevice>> probe_allowed_devices(const Host& host, const ProbeOptions& options,
                                                       const Result<std::vector<LoaderCacheEntry>>& cache,
                                                       const Python& python) {
  const auto roots = rocm_roots(host, options);
  if (!roots) return Fact<std::vector<AllowedDevice>>::unknown(roots.error());
  std::vector<std::string> trees;
  for (const LibraryPlace& root : *roots) trees.push_back(root.folder);
  const std::vector<std::string> cached = cached_paths(cache.value_or({}), "librocdxg.so");
  for (const FoundLibrary& library :
       find_libraries(host, library_places(host, *roots, python), cached, "librocdxg.so")) {
    const std::string folder = library.path.substr(0, library.path.rfind('/'));
    trees.push_back(folder.substr(0, folder.rfind('/')));
  }

  std::vector<AllowedDevice> devices;
  std::vector<FileIdentity> read;
  for (const std::string& tree : trees) {
    const std::string file = tree + "/share/rocdxg/dids.conf";
    const auto identity = identify(host, file);
    if (!identity) continue;
    const bool known =
        std::any_of(read.begin(), read.end(), [&](const FileIdentity& other) { return other.same_as(*identity); });
    if (known) continue;
    read.push_back(*identity);
    const auto text = host.read_file(identity->canonical);
    if (!text) return Fact<std::vector<AllowedDevice>>::unknown(text.error());
    for (AllowedDevice& device : parse_dids_conf(*text, identity->canonical)) devices.push_back(std::move(device));
  }
  return devices;
}

/// dpkg keeps a list of files of each package, with the architecture in its name where several can be installed.
Fact<bool> has_package(const Host& host, const std::string& name) {
  const std::string list = "/var/lib/dpkg/info/" + name;
  const Fact<bool> plain = exists(host, list + ".list");
  return plain.is(false) ? exists(host, list + ":amd64.list") : plain;
}

Wsl unknown_wsl(const Error& why) {
  Wsl wsl;
  Wsl::fields([&](std::string_view, auto member) { wsl.*member = std::decay_t<decltype(wsl.*member)>::unknown(why); });
  return wsl;
}

}  // namespace

bool has_dxg(const Platform& platform) {
  return platform.kind.is(PlatformKind::wsl2) || platform.kind.is(PlatformKind::gpu_pv_guest);
}

Wsl probe_wsl(const Host& host, const ProbeOptions& options, const Platform& platform, const Python& python) {
  if (!platform.kind.known()) return unknown_wsl(platform.kind.why_unknown());
  if (!has_dxg(platform)) return unknown_wsl({0, "not WSL"});

  // What stays as it is made here needs Windows.
  Wsl wsl = unknown_wsl({0, "needs --deep"});
  const auto cache = host.loader_cache();
  const auto conf = read_wsl_conf(host);
  wsl.adapters = probe_adapters(host);
  wsl.library_folder = exists(host, library_folder);
  probe_dxcore(host, cache, wsl);
  wsl.ld_conf = exists(host, "/etc/ld.so.conf.d/ld.wsl.conf");
  probe_conf(conf, wsl);
  wsl.allowed_devices = probe_allowed_devices(host, options, cache, python);
  wsl.roc4wsl_package = has_package(host, "hsa-runtime-rocr4wsl-amdgpu");
  wsl.rocdxg_package = has_package(host, "rocdxg-roct");
  if (options.deep) probe_windows(host, conf.value_or(WslConf("")), wsl);
  return wsl;
}

}  // namespace sage
