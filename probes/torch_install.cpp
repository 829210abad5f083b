// What a torch package is, from its files alone (facts/wheels.md 2.13). Three sources speak of it: torch/version.py, the
// names in torch/lib, and METADATA of its dist-info; each is noted apart, so that a disagreement shows.

#include "probes/torch_install.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "probes/base/requirement.hpp"
#include "probes/look.hpp"
#include "probes/python_packages.hpp"
#include "probes/torch_version.hpp"

namespace sage {
namespace {

constexpr std::size_t most_dist_infos = 8;

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Fact<TorchFlavour> flavour_by_version(const TorchVersion& version, const std::string& file) {
  if (version.hip || version.rocm) return TorchFlavour::rocm;
  if (version.cuda) return TorchFlavour::cuda;
  if (version.xpu) return TorchFlavour::xpu;
  if (version.names_backends) return TorchFlavour::cpu;
  return Fact<TorchFlavour>::unknown(file + ": names neither hip nor cuda");
}

void read_version(const Host& host, TorchInstall& torch) {
  const std::string file = torch.folder + "/version.py";
  const auto text = host.read_file(file);
  if (!text) {
    torch.version = Fact<std::string>::unknown(text.error());
    torch.hip = torch.cuda = torch.rocm = Fact<std::optional<std::string>>::unknown(text.error());
    torch.flavour = Fact<TorchFlavour>::unknown(text.error());
    return;
  }
  TorchVersion version = parse_torch_version(*text);
  torch.flavour = flavour_by_version(version, file);
  torch.version = version.version ? Fact<std::string>(*std::move(version.version))
                                  : Fact<std::string>::unknown(file + ": no __version__");
  torch.hip = std::move(version.hip);
  torch.cuda = std::move(version.cuda);
  torch.rocm = std::move(version.rocm);
}

struct FlavourName {
  std::string_view library;
  TorchFlavour flavour;
};

/// The most telling first: every build has libtorch_cpu.so.
constexpr auto flavour_names = std::to_array<FlavourName>({
    {"libtorch_hip.so", TorchFlavour::rocm},
    {"libc10_hip.so", TorchFlavour::rocm},
    {"libtorch_cuda.so", TorchFlavour::cuda},
    {"libc10_cuda.so", TorchFlavour::cuda},
    {"libtorch_xpu.so", TorchFlavour::xpu},
    {"libtorch_cpu.so", TorchFlavour::cpu},
});

Fact<TorchFlavour> flavour_by_libraries(const Result<std::vector<std::string>>& libraries, const std::string& folder) {
  if (!libraries) return Fact<TorchFlavour>::unknown(libraries.error());
  for (const auto& [name, flavour] : flavour_names) {
    if (has(*libraries, name)) return flavour;
  }
  return Fact<TorchFlavour>::unknown(folder + ": no library of torch");
}

void read_dist_infos(const Host& host, const std::vector<PythonPackage>& packages, TorchInstall& torch) {
  std::vector<std::string> versions;
  std::vector<std::string> needs;
  std::vector<std::string> tags;
  std::optional<Error> no_metadata;
  std::optional<Error> no_tags;
  std::size_t count = 0;
  for (const PythonPackage& package : packages) {
    if (package.name != "torch" || ++count > most_dist_infos) continue;
    const auto metadata = host.read_file(package.dist_info + "/METADATA");
    if (metadata) {
      PackageMetadata parsed = parse_metadata(*metadata);
      versions.push_back(std::move(parsed.version));
      std::move(parsed.needs.begin(), parsed.needs.end(), std::back_inserter(needs));
    } else {
      no_metadata = metadata.error();
    }
    const auto wheel = host.read_file(package.dist_info + "/WHEEL");
    if (wheel) {
      for (std::string& tag : parse_wheel_tags(*wheel)) tags.push_back(std::move(tag));
    } else {
      no_tags = wheel.error();
    }
  }
  if (count == 0) no_metadata = no_tags = Error{0, torch.folder + ": no dist-info of torch beside it"};
  using List = Fact<std::vector<std::string>>;
  torch.metadata_versions = no_metadata ? List::unknown(*no_metadata) : List(std::move(versions));
  torch.needs = no_metadata ? List::unknown(*no_metadata) : List(std::move(needs));
  torch.wheel_tags = no_tags ? List::unknown(*no_tags) : List(std::move(tags));
}

void decide_family(TorchInstall& torch, const Result<std::vector<std::string>>& libraries,
                   const Fact<bool>& has_rocm_init) {
  const auto unknown = [&](const Error& why) {
    torch.family = Fact<TorchFamily>::unknown(why);
    torch.family_evidence = Fact<std::string>::unknown(why);
  };
  const auto known = [&](TorchFamily family, std::string evidence) {
    torch.family = family;
    torch.family_evidence = std::move(evidence);
  };
  if (!torch.flavour.is(TorchFlavour::rocm)) return unknown({0, "not known to be a ROCm build"});
  if (!libraries) return unknown(libraries.error());
  for (const char* name : {"libamdhip64.so", "libhsa-runtime64.so"}) {
    if (has(*libraries, name)) return known(TorchFamily::fat, torch.folder + "/lib/" + name);
  }
  if (has_rocm_init.is(true)) return known(TorchFamily::thin, torch.folder + "/_rocm_init.py");
  for (const std::string& need : torch.needs.value_or({})) {
    if (needed_name(need) == "rocm") return known(TorchFamily::thin, "Requires-Dist: " + need);
  }
  if (!torch.needs.known()) return unknown(torch.needs.why_unknown());
  if (!has_rocm_init.known()) return unknown(has_rocm_init.why_unknown());
  if (!has(*libraries, "libtorch_hip.so")) return unknown({0, torch.folder + "/lib: no libtorch_hip.so"});
  known(TorchFamily::lightweight, torch.folder + "/lib has no libamdhip64.so, and METADATA asks for no rocm");
}

Fact<std::vector<std::string>> rocblas_targets(const Host& host, const TorchInstall& torch) {
  const auto names = host.list_folder(torch.folder + "/lib/rocblas/library");
  if (!names) return Fact<std::vector<std::string>>::unknown(names.error());
  return targets_in_names(*names);
}

bool marks_editable(const std::string& name) {
  return name.starts_with("__editable__.torch-") || name == "torch.egg-link" ||
         (name.starts_with("__editable___torch_") && name.ends_with("_finder.py"));
}

}  // namespace

std::vector<std::string> targets_in_names(const std::vector<std::string>& names) {
  std::set<std::string> targets;
  for (const std::string& name : names) {
    for (std::size_t at = name.find("gfx"); at != std::string::npos; at = name.find("gfx", at + 3)) {
      const std::size_t end = std::min(name.find_first_not_of("0123456789abcdef", at + 3), name.size());
      if (end - at >= 6 && end - at <= 7) targets.insert(name.substr(at, end - at));
    }
  }
  return {targets.begin(), targets.end()};
}

TorchInstall describe_torch(const Host& host, const PythonSite& site, const std::vector<std::string>& site_names,
                            const std::vector<PythonPackage>& packages) {
  TorchInstall torch;
  torch.folder = site.path + "/torch";
  torch.site = site.kind;
  read_version(host, torch);
  read_dist_infos(host, packages, torch);
  const std::string library_folder = torch.folder + "/lib";
  const auto libraries = host.list_folder(library_folder);
  torch.library_flavour = flavour_by_libraries(libraries, library_folder);
  decide_family(torch, libraries, exists(host, torch.folder + "/_rocm_init.py"));
  torch.rocblas_targets = torch.family.is(TorchFamily::fat)
                              ? rocblas_targets(host, torch)
                              : Fact<std::vector<std::string>>::unknown("not known to be a fat wheel");
  torch.editable = std::any_of(site_names.begin(), site_names.end(), marks_editable);
  return torch;
}

}  // namespace sage
