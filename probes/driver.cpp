#include "probes/driver.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/container.hpp"
#include "probes/kernel_log_filter.hpp"
#include "probes/kernel_module.hpp"
#include "probes/look.hpp"
#include "probes/modprobe.hpp"

namespace sage {
namespace {

constexpr std::size_t most_log_lines = 400;

constexpr std::array<std::string_view, 3> firmware_endings = {".bin", ".bin.zst", ".bin.xz"};

Fact<std::string> version(const Host& host, const Fact<bool>& loaded) {
  using Text = Fact<std::string>;
  if (!loaded.known()) return Text::unknown(loaded.why_unknown());
  if (!*loaded) return Text::unknown("amdgpu is not loaded");
  const Result<std::string> text = read_trimmed(host, "/sys/module/amdgpu/version");
  if (!text && is_absent(text.error())) return std::string();
  return text;
}

bool is_folder(const Host& host, const std::string& path) {
  const Result<FileStatus> status = host.status(path, Links::keep);
  return status.ok() && status->type == FileType::directory;
}

/// Kernels below a version's folder that DKMS finished a build for: <kernel>/<arch>/module.
std::vector<std::string> built_kernels(const Host& host, const std::string& folder) {
  std::vector<std::string> kernels;
  for (const std::string& kernel : host.list_folder(folder).value_or({})) {
    if (kernel == "build" || !is_folder(host, folder + "/" + kernel)) continue;
    const std::vector<std::string> architectures = host.list_folder(folder + "/" + kernel).value_or({});
    const bool built = std::any_of(architectures.begin(), architectures.end(), [&](const std::string& architecture) {
      return is_folder(host, folder + "/" + kernel + "/" + architecture + "/module");
    });
    if (built) kernels.push_back(kernel);
  }
  return kernels;
}

/// /var/lib/dkms/amdgpu holds a folder for each version, and links named kernel-<release>-<arch> to what is installed.
Fact<std::vector<DkmsBuild>> dkms_builds(const Host& host, const Platform& platform) {
  using Builds = Fact<std::vector<DkmsBuild>>;
  const std::string root = "/var/lib/dkms/amdgpu";
  if (const auto hidden = hidden_by_container(platform.container, root)) return Builds::unknown(*hidden);
  const Result<std::vector<std::string>> versions = list_if_there(host, root);
  if (!versions) return Builds::unknown(versions.error());
  std::vector<DkmsBuild> builds;
  for (const std::string& name : *versions) {
    if (!is_folder(host, root + "/" + name)) continue;
    const std::vector<std::string> kernels = built_kernels(host, root + "/" + name);
    for (const std::string& kernel : kernels) builds.push_back({name, kernel});
    if (kernels.empty()) builds.push_back({name, ""});
  }
  return builds;
}

/// Where the kernel looks for firmware (Documentation/driver-api/firmware/fw_search_path.rst); the path that a module
/// parameter adds is how NixOS does it.
std::vector<std::string> firmware_folders(const Host& host, const Platform& platform) {
  std::vector<std::string> roots;
  const std::string added = read_trimmed(host, "/sys/module/firmware_class/parameters/path").value_or("");
  if (added.starts_with('/')) roots.push_back(added);
  for (const char* root : {"/lib/firmware/updates", "/lib/firmware"}) {
    if (platform.kernel_release.known()) roots.push_back(std::string(root) + "/" + *platform.kernel_release);
    roots.emplace_back(root);
  }
  for (std::string& root : roots) root += "/amdgpu";
  return roots;
}

Fact<std::vector<std::string>> gc_firmware(const Host& host, const Platform& platform) {
  using Names = Fact<std::vector<std::string>>;
  if (const auto hidden = hidden_by_container(platform.container, "/lib/firmware")) return Names::unknown(*hidden);
  std::set<std::string> found;
  for (const std::string& folder : firmware_folders(host, platform)) {
    const Result<std::vector<std::string>> names = list_if_there(host, folder);
    // A folder that can't be listed may hold the one file that matters.
    if (!names) return Names::unknown(names.error());
    for (const std::string& name : *names) {
      if (!name.starts_with("gc_")) continue;
      for (const std::string_view ending : firmware_endings) {
        if (name.ends_with(ending)) found.insert(name.substr(0, name.size() - ending.size()));
      }
    }
  }
  return std::vector<std::string>(found.begin(), found.end());
}

Fact<std::vector<std::string>> kernel_log(const Host& host) {
  const Result<std::vector<std::string>> all = host.kernel_log();
  if (!all) return Fact<std::vector<std::string>>::unknown(all.error());
  std::vector<std::string> kept;
  for (auto line = all->rbegin(); line != all->rend() && kept.size() < most_log_lines; ++line) {
    if (kernel_log_line_kept(*line)) kept.push_back(*line);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

/// A Driver whose every fact is unknown for one reason.
Driver unknown_driver(const std::string& reason) {
  Driver driver;
  Driver::fields([&](const char*, auto member) {
    using Member = std::remove_reference_t<decltype(driver.*member)>;
    driver.*member = Member::unknown(reason);
  });
  return driver;
}

}  // namespace

Driver probe_driver(const Host& host, const Platform& platform) {
  if (platform.kind.is(PlatformKind::wsl1) || platform.kind.is(PlatformKind::wsl2)) {
    Driver driver = unknown_driver(platform.kind.is(PlatformKind::wsl2) ? "WSL2 has no amdgpu driver"
                                                                        : "WSL1 has no amdgpu driver");
    driver.log = kernel_log(host);
    return driver;
  }
  Driver driver;
  driver.loaded = exists(host, "/sys/module/amdgpu");
  driver.version = version(host, driver.loaded);
  probe_kernel_module(host, platform, driver);
  probe_modprobe(host, platform, driver);
  driver.dkms = dkms_builds(host, platform);
  driver.gc_firmware = gc_firmware(host, platform);
  driver.log = kernel_log(host);
  driver.kfd_topology = exists(host, "/sys/class/kfd/kfd/topology");
  return driver;
}

}  // namespace sage
