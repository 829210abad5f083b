#include "probes/python.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/look.hpp"
#include "probes/python_environments.hpp"
#include "probes/python_packages.hpp"
#include "probes/python_paths.hpp"
#include "probes/search_path.hpp"
#include "probes/rocm_sdk_files.hpp"
#include "probes/sage_install.hpp"
#include "probes/torch_install.hpp"
#include "probes/torch_targets.hpp"
#include "probes/triton_install.hpp"

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
  std::vector<SageInstall> sage;
  std::vector<TritonInstall> triton;
};

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

/// The records that may be those of the torch in `site`. A development install has its record in the site whose .pth
/// file names its tree.
std::vector<PythonPackage> records_for(const PythonSite& site, const std::vector<PythonPackage>& own,
                                       const Inventory& inventory) {
  if (!site.kind.is(SiteKind::pth)) return own;
  std::vector<PythonPackage> records = own;
  for (const PythonPackage& package : inventory.packages) {
    const bool taken = std::any_of(inventory.torch.begin(), inventory.torch.end(), [&](const TorchInstall& torch) {
      return parent_folder(torch.folder) == parent_folder(package.dist_info);
    });
    if (package.name == "torch" && !taken) records.push_back(package);
  }
  return records;
}

void take_stock_of(const Host& host, const PythonSite& site, const std::vector<std::string>& names,
                   Inventory& inventory) {
  std::vector<PythonPackage> packages;
  for (const std::string& name : names) {
    if (auto package = package_of_interest(site.path, name)) packages.push_back(*std::move(package));
    if (is_leftover(name)) inventory.leftovers.push_back(site.path + "/" + name);
    if (name.starts_with("_rocm_sdk_")) inventory.sdk_folders.push_back(site.path + "/" + name);
  }
  if (has(names, "torch")) {
    inventory.torch.push_back(describe_torch(host, site, names, records_for(site, packages, inventory)));
  }
  if (!inventory.devel_site && has(names, "rocm_sdk_devel")) inventory.devel_site = site.path;
  if (!inventory.sage_site && has(names, "sageattention")) {
    inventory.sage_site = site.path;
    inventory.sage.push_back(describe_sageattention(host, site.path, packages));
  }
  if (inventory.triton.empty() && has(names, "triton")) inventory.triton.push_back(describe_triton(host, site.path));
  std::move(packages.begin(), packages.end(), std::back_inserter(inventory.packages));
}

/// The folders that a site's file of this name adds: those of a .pth file, or the tree of a development install.
std::vector<std::string> folders_named_by(const Host& host, const std::string& site, const std::string& name) {
  if (name.ends_with(".pth") && !name.starts_with('.')) return folders_of_pth(host, site, name);
  if (!is_editable_finder(name)) return {};
  const std::string tree = mapped_folder(host.read_file(site + "/" + name).value_or(""), "torch");
  return tree.starts_with('/') && is_folder(host, tree) ? std::vector<std::string>{parent_folder(tree)}
                                                        : std::vector<std::string>{};
}

/// Puts the folders that the site's .pth files name behind the site. Those folders' own .pth files are not read, nor
/// those in PYTHONPATH.
void add_pth_folders(const Host& host, std::vector<PythonSite>& sites, std::size_t at,
                     const std::vector<std::string>& names) {
  if (sites[at].kind.is(SiteKind::pth) || sites[at].kind.is(SiteKind::python_path)) return;
  const std::string site = sites[at].path;
  std::size_t files = 0;
  for (const std::string& name : names) {
    if ((!name.ends_with(".pth") && !is_editable_finder(name)) || ++files > most_pth_files) continue;
    for (std::string& folder : folders_named_by(host, site, name)) {
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
  environment.sage = Fact<std::vector<SageInstall>>::unknown(why);
  environment.triton = Fact<std::vector<TritonInstall>>::unknown(why);
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
  environment.devel = inventory.devel_site ? devel_state(host, *inventory.devel_site) : DevelState::absent;
  environment.sage_binaries = sage_binaries(host, inventory.sage_site);
  environment.packages = std::move(inventory.packages);
  environment.leftovers = std::move(inventory.leftovers);
  environment.torch = std::move(inventory.torch);
  environment.sdk_folders = std::move(inventory.sdk_folders);
  environment.sage = std::move(inventory.sage);
  environment.triton = std::move(inventory.triton);
}

/// Looks into the libraries of the torch that is imported and of the SDK.
void look_into_libraries(const Host& host, PythonEnvironment& environment) {
  if (!environment.torch.known() || environment.torch->empty() || !environment.sdk_folders.known()) return;
  TorchInstall& torch = environment.torch.value().front();
  const std::string libraries = sdk_libraries(*environment.sdk_folders);
  read_torch_targets(host, (libraries.empty() ? torch.folder : libraries) + "/lib", torch);
  environment.sdk = describe_sdk_files(host, *environment.sdk_folders, torch.folder + "/lib", environment.devel);
}

Fact<std::vector<std::string>> find_comfyui(const Host& host) {
  const std::string here = host.process().working_folder;
  if (!here.starts_with('/')) return Fact<std::vector<std::string>>::unknown("the working folder is not known");
  std::vector<std::string> found;
  for (const std::string& folder : {here, here + "/ComfyUI"}) {
    if (exists(host, folder + "/comfy/model_management.py").is(true)) found.push_back(folder);
  }
  return found;
}

}  // namespace

Python probe_python(const Host& host, const ProbeOptions& options) {
  std::vector<PythonEnvironment> environments = find_python_environments(host, options.python);
  for (PythonEnvironment& environment : environments) take_stock(host, environment);
  if (!environments.empty()) look_into_libraries(host, environments.front());
  Python python;
  python.environments = std::move(environments);
  python.comfyui = find_comfyui(host);
  python.sage_sources = find_sage_sources(host);
  return python;
}

}  // namespace sage
