#include "probes/python.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/python_environments.hpp"
#include "probes/python_packages.hpp"
#include "probes/torch_install.hpp"

namespace sage {
namespace {

constexpr std::size_t most_sites = 64;
constexpr std::size_t most_pth_files = 64;

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// pip renames what it is about to remove: "torch" to "~orch", "~-orch" or "~~rch" when it must try again.
bool is_leftover(const std::string& name) {
  if (!name.starts_with('~')) return false;
  return contains(name, "orch") || contains(name, "riton") || contains(name, "ocm_sdk");
}

/// Everything that is collected over the sites of one environment.
struct Inventory {
  std::vector<PythonPackage> packages;
  std::vector<std::string> leftovers;
  std::vector<TorchInstall> torch;
  std::vector<std::string> sdk_folders;
  std::optional<std::string> devel_site;  ///< the first with rocm_sdk_devel
  std::optional<std::string> sage_site;   ///< the first with sageattention
};

/// By the table of facts/wheels.md 2.4.
Fact<DevelState> devel_state(const Host& host, const std::optional<std::string>& site) {
  if (!site) return DevelState::absent;
  const auto names = host.list_folder(*site + "/rocm_sdk_devel");
  if (!names) return Fact<DevelState>::unknown(names.error());
  const bool packed =
      std::any_of(names->begin(), names->end(), [](const std::string& name) { return name.starts_with("_devel.tar"); });
  const Fact<bool> unpacked = exists(host, *site + "/_rocm_sdk_devel/__init__.py");
  if (!unpacked.known()) return Fact<DevelState>::unknown(unpacked.why_unknown());
  if (packed) return *unpacked ? DevelState::interrupted : DevelState::not_expanded;
  if (*unpacked) return DevelState::expanded;
  return Fact<DevelState>::unknown(*site + ": rocm_sdk_devel has no archive and was not expanded");
}

Fact<std::vector<std::string>> sage_binaries(const Host& host, const std::optional<std::string>& site) {
  using List = Fact<std::vector<std::string>>;
  if (!site) return List::unknown("sageattention is not installed");
  const auto names = host.list_folder(*site + "/sageattention");
  if (!names) return List::unknown(names.error());
  std::vector<std::string> binaries;
  for (const std::string& name : *names) {
    if (name.ends_with(".so")) binaries.push_back(name);
  }
  return binaries;
}

void take_stock_of(const Host& host, const PythonSite& site, const std::vector<std::string>& names,
                   Inventory& inventory) {
  std::vector<PythonPackage> packages;
  for (const std::string& name : names) {
    if (auto package = package_of_interest(site.path, name)) packages.push_back(*std::move(package));
    if (is_leftover(name)) inventory.leftovers.push_back(site.path + "/" + name);
    if (name.starts_with("_rocm_sdk_")) inventory.sdk_folders.push_back(site.path + "/" + name);
  }
  if (has(names, "torch")) inventory.torch.push_back(describe_torch(host, site, names, packages));
  if (!inventory.devel_site && has(names, "rocm_sdk_devel")) inventory.devel_site = site.path;
  if (!inventory.sage_site && has(names, "sageattention")) inventory.sage_site = site.path;
  std::move(packages.begin(), packages.end(), std::back_inserter(inventory.packages));
}

/// Puts the folders that the site's .pth files name behind the site. Those folders' own .pth files are not read, nor
/// those in PYTHONPATH.
void add_pth_folders(const Host& host, std::vector<PythonSite>& sites, std::size_t at,
                     const std::vector<std::string>& names) {
  if (sites[at].kind.is(SiteKind::pth) || sites[at].kind.is(SiteKind::python_path)) return;
  const std::string site = sites[at].path;
  std::size_t files = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(".pth") || name.starts_with('.') || ++files > most_pth_files) continue;
    for (std::string& folder : folders_of_pth(host, site, name)) {
      const bool known = std::any_of(sites.begin(), sites.end(),
                                     [&](const PythonSite& other) { return other.path == folder; });
      if (known || sites.size() >= most_sites) continue;
      sites.insert(sites.begin() + static_cast<std::ptrdiff_t>(++at), {std::move(folder), SiteKind::pth});
    }
  }
}

void nothing_known(PythonEnvironment& environment, const Error& why) {
  environment.packages = Fact<std::vector<PythonPackage>>::unknown(why);
  environment.leftovers = environment.sdk_folders = environment.sage_binaries =
      Fact<std::vector<std::string>>::unknown(why);
  environment.torch = Fact<std::vector<TorchInstall>>::unknown(why);
  environment.devel = Fact<DevelState>::unknown(why);
}

void take_stock(const Host& host, PythonEnvironment& environment) {
  if (!environment.sites.known()) return nothing_known(environment, environment.sites.why_unknown());
  std::vector<PythonSite>& sites = environment.sites.value();
  Inventory inventory;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto names = host.list_folder(sites[i].path);
    if (!names) return nothing_known(environment, names.error());
    add_pth_folders(host, sites, i, *names);
    take_stock_of(host, sites[i], *names, inventory);
  }
  environment.devel = devel_state(host, inventory.devel_site);
  environment.sage_binaries = sage_binaries(host, inventory.sage_site);
  environment.packages = std::move(inventory.packages);
  environment.leftovers = std::move(inventory.leftovers);
  environment.torch = std::move(inventory.torch);
  environment.sdk_folders = std::move(inventory.sdk_folders);
}

}  // namespace

Python probe_python(const Host& host) {
  std::vector<PythonEnvironment> environments = find_python_environments(host);
  for (PythonEnvironment& environment : environments) take_stock(host, environment);
  Python python;
  python.environments = std::move(environments);
  return python;
}

}  // namespace sage
