// What a torch package is, from its files alone (facts/wheels.md 2.13). Three sources speak of it: torch/version.py, the
// names in torch/lib, and METADATA of its dist-info; each is noted apart, so that a disagreement shows.

#include "probes/torch_install.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "probes/base/requirement.hpp"
#include "probes/base/text.hpp"
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

struct FamilyMark {
  TorchFamily family;
  std::string evidence;
};

/// What speaks for a family by itself; two families among them are a mixed installation.
std::vector<FamilyMark> family_marks(const TorchInstall& torch, const std::vector<std::string>& libraries,
                                     const Fact<bool>& has_rocm_init) {
  std::vector<FamilyMark> marks;
  for (const char* name : {"libamdhip64.so", "libhsa-runtime64.so"}) {
    if (has(libraries, name)) marks.push_back({TorchFamily::fat, torch.folder + "/lib/" + name});
  }
  if (has_rocm_init.is(true)) marks.push_back({TorchFamily::thin, torch.folder + "/_rocm_init.py"});
  for (const std::string& need : torch.needs.value_or({})) {
    if (needed_name(need) == "rocm") marks.push_back({TorchFamily::thin, "Requires-Dist: " + need});
  }
  return marks;
}

/// "2.9.0a0+git1a2b3c4" is what a build from a checkout calls itself; wheels that are handed on name their ROCm.
bool names_a_checkout(const TorchInstall& torch) {
  const std::string version = torch.version.value_or("");
  return contains(version, "+git") && !contains(version, "rocm");
}

/// A ROCm build without a runtime of its own and without SDK wheels.
FamilyMark family_without_runtime(const TorchInstall& torch, const std::vector<std::string>& libraries) {
  if (has(libraries, "libmagma.so")) {
    return {TorchFamily::lightweight, torch.folder + "/lib has libmagma.so and no libamdhip64.so"};
  }
  if (torch.editable.is(true)) return {TorchFamily::source, torch.folder + " is a development install"};
  if (names_a_checkout(torch)) return {TorchFamily::source, torch.folder + "/version.py: " + *torch.version};
  return {TorchFamily::lightweight, torch.folder + "/lib has no libamdhip64.so, and METADATA asks for no rocm"};
}

void decide_family(TorchInstall& torch, const Result<std::vector<std::string>>& libraries,
                   const Fact<bool>& has_rocm_init) {
  const auto unknown = [&](const Error& why) {
    torch.family = Fact<TorchFamily>::unknown(why);
    torch.family_evidence = Fact<std::string>::unknown(why);
    torch.other_families = Fact<std::vector<std::string>>::unknown(why);
  };
  if (!torch.flavour.is(TorchFlavour::rocm)) return unknown({0, "not known to be a ROCm build"});
  if (!libraries) return unknown(libraries.error());
  std::vector<FamilyMark> marks = family_marks(torch, *libraries, has_rocm_init);
  if (marks.empty()) {
    // A build of one's own need not have a record; it is told by what it is, not by what it asks for.
    if (!torch.needs.known() && !torch.editable.is(true)) return unknown(torch.needs.why_unknown());
    if (!has_rocm_init.known()) return unknown(has_rocm_init.why_unknown());
    if (!has(*libraries, "libtorch_hip.so")) return unknown({0, torch.folder + "/lib: no libtorch_hip.so"});
    marks.push_back(family_without_runtime(torch, *libraries));
  }
  torch.family = marks.front().family;
  torch.family_evidence = marks.front().evidence;
  std::vector<std::string> others;
  for (const FamilyMark& mark : marks) {
    if (mark.family != marks.front().family) others.push_back(mark.evidence);
  }
  torch.other_families = std::move(others);
}

/// A wheel of ROCm 7.1 or 7.2 with the one and without the other may hang at import (facts/wheels.md P15).
Fact<bool> numa_without_alias(const Result<std::vector<std::string>>& libraries) {
  if (!libraries) return Fact<bool>::unknown(libraries.error());
  return has(*libraries, "libnuma.so.1") && !has(*libraries, "libnuma.so");
}

/// What a development install leaves in the site's folder (facts/wheels.md 2.13).
bool marks_editable(const std::string& name) {
  return name.starts_with("__editable__.torch-") || name == "torch.egg-link" || is_editable_finder(name);
}

}  // namespace

bool is_editable_finder(const std::string& name) {
  return name.starts_with("__editable___torch_") && name.ends_with("_finder.py");
}

TorchInstall describe_torch(const Host& host, const PythonSite& site, const std::vector<std::string>& site_names,
                            const std::vector<PythonPackage>& packages) {
  TorchInstall torch;
  torch.folder = site.path + "/torch";
  torch.site = site.kind;
  // What a .pth file leads to is by definition a tree outside the site.
  torch.editable = site.kind.is(SiteKind::pth) || std::any_of(site_names.begin(), site_names.end(), marks_editable);
  read_version(host, torch);
  read_dist_infos(host, packages, torch);
  const std::string library_folder = torch.folder + "/lib";
  const auto libraries = host.list_folder(library_folder);
  torch.library_flavour = flavour_by_libraries(libraries, library_folder);
  torch.numa_without_alias = numa_without_alias(libraries);
  decide_family(torch, libraries, exists(host, torch.folder + "/_rocm_init.py"));
  return torch;
}

}  // namespace sage
