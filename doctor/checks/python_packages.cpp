// Packages beside a ROCm build of PyTorch that have to fit it (facts/wheels.md P5, P7, P13; facts/bugs.md B1, B2, B31,
// B32).

#include <algorithm>
#include <array>
#include <set>

#include "doctor/checks/python_common.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/requirement.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

using Packages = std::vector<PythonPackage>;

template <class Wanted>
Packages select(const Packages& packages, Wanted wanted) {
  Packages selected;
  std::copy_if(packages.begin(), packages.end(), std::back_inserter(selected), wanted);
  return selected;
}

std::vector<Evidence> package_evidence(const Packages& packages) {
  std::vector<Evidence> evidence;
  for (const PythonPackage& package : packages) {
    evidence.push_back({package.dist_info, package.name + " " + package.version.value_or("of unknown version")});
  }
  return evidence;
}

std::string names_of(const Packages& packages, std::string_view separator) {
  std::vector<std::string> names;
  for (const PythonPackage& package : packages) {
    if (std::find(names.begin(), names.end(), package.name) == names.end()) names.push_back(package.name);
  }
  return join(names, separator);
}

// ---- python.triton-conflict

constexpr auto triton_names =
    std::to_array<std::string_view>({"triton", "triton-rocm", "pytorch-triton-rocm", "pytorch-triton"});

bool owns_triton(std::string_view name) {
  return std::find(triton_names.begin(), triton_names.end(), name) != triton_names.end();
}

/// The requirement of torch that brings triton/; empty when it has none.
std::string needed_triton(const std::vector<std::string>& needs) {
  for (const std::string& need : needs) {
    if (owns_triton(needed_name(need))) return need;
  }
  return "";
}

/// The index of an upstream build: "2.9.1+rocm6.4" came from .../whl/rocm6.4. Empty for AMD's builds, whose local part
/// is longer.
std::string index_of(const std::string& version) {
  const std::size_t mark = version.find("+rocm");
  if (mark == std::string::npos) return "";
  const std::string rocm = version.substr(mark + 5);
  if (rocm.find_first_not_of("0123456789.") != std::string::npos || std::count(rocm.begin(), rocm.end(), '.') != 1) {
    return "";
  }
  return "https://download.pytorch.org/whl/rocm" + rocm;
}

std::vector<Remedy> triton_remedies(const PythonEnvironment& environment, const TorchInstall& torch,
                                    const Packages& owners) {
  Remedy remedy{"Uninstall what is there, then install the one that PyTorch asks for.",
                {pip_uninstall(environment) + " " + names_of(owners, " ")},
                {}};
  const std::string need = needed_triton(torch.needs.value_or({}));
  const std::string index = index_of(torch.version.value_or(""));
  if (need.empty() || index.empty()) {
    remedy.text += " Take it from the index that PyTorch came from.";
  } else {
    remedy.commands.push_back(pip_install(environment) + " --no-deps " + shell_word(need) + " --index-url " + index);
  }
  return {remedy};
}

// ---- python.rocm-sdk-versions

bool of_rocm_sdk(const PythonPackage& package) {
  return package.name == "rocm" || package.name.starts_with("rocm-sdk-");
}

Finding sdk_finding(Finding finding, const PythonEnvironment& environment, const Packages& sdk, std::string cause) {
  finding.evidence = package_evidence(sdk);
  finding.cause = std::move(cause);
  finding.remedies = {{"Remove the SDK wheels, then install PyTorch again from the index that it came from; pip brings "
                       "the set that belongs to it.",
                       {pip_uninstall(environment) + " torch " + names_of(sdk, " ")},
                       {}}};
  finding.verify = show_torch_command(environment);
  return finding;
}

bool has_sdk_core(const PythonEnvironment& environment) {
  const auto& folders = *environment.sdk_folders;
  return std::any_of(folders.begin(), folders.end(),
                     [](const std::string& folder) { return folder.ends_with("/_rocm_sdk_core"); });
}

}  // namespace

std::vector<Finding> check_triton_conflict(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const TorchInstall& torch = torch_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.packages", &environment.packages}})) return {*skip};
  const Packages owners = select(*environment.packages, [&](const PythonPackage& package) {
    return owns_triton(package.name) && site_of(package.dist_info) == site_of(torch.folder);
  });
  if (owners.empty()) return {info("Triton is not installed beside PyTorch")};
  if (owners.size() > 1) {
    Finding finding = warn(counted(owners.size(), "distribution") + " share the folder triton: " +
                           names_of(owners, ", "));
    finding.evidence = package_evidence(owners);
    finding.cause = "They install the same folder; each overwrote files of the other.";
    finding.remedies = triton_remedies(environment, torch, owners);
    finding.verify = pip_install(environment) + " --dry-run torch";
    return {finding};
  }
  if (auto skip = skip_unless_known({{"python.environments.torch.needs", &torch.needs}})) return {*skip};
  const std::string need = needed_triton(*torch.needs);
  const bool asked_for = std::any_of(torch.needs->begin(), torch.needs->end(), [&](const std::string& one) {
    return needed_name(one) == owners.front().name;
  });
  if (need.empty() || asked_for) {
    return {pass(owners.front().name + " " + owners.front().version.value_or("") + " is the only Triton")};
  }
  Finding finding = warn("PyTorch asks for " + need + ", but the Triton here is " + owners.front().name);
  finding.evidence = package_evidence(owners);
  finding.cause = "Another package brought its own Triton, which need not know this GPU or this ROCm.";
  finding.confidence = Confidence::likely;
  finding.remedies = triton_remedies(environment, torch, owners);
  finding.verify = pip_install(environment) + " --dry-run torch";
  return {finding};
}

std::vector<Finding> check_rocm_sdk_versions(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const TorchInstall& torch = torch_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.torch.family", &torch.family},
                                     {"python.environments.packages", &environment.packages},
                                     {"python.environments.sdk_folders", &environment.sdk_folders},
                                     {"python.environments.devel", &environment.devel}})) {
    return {*skip};
  }
  if (!torch.family.is(TorchFamily::thin)) return {not_applicable("this PyTorch uses no ROCm SDK wheels")};
  const Packages sdk = select(*environment.packages, of_rocm_sdk);
  if (!has_sdk_core(environment)) {
    Finding finding = fail("PyTorch needs the ROCm SDK wheels, and rocm-sdk-core is not there");
    finding = sdk_finding(std::move(finding), environment, sdk,
                          "This build has no HIP runtime of its own; `import torch` ends with an error.");
    finding.evidence.push_back({torch.folder, torch.family_evidence.value_or("a thin build")});
    finding.remedies = {install_rocm_torch(input)};
    return {finding};
  }
  std::set<std::string> versions;
  std::set<std::string> sites;
  for (const PythonPackage& package : sdk) {
    if (auto skip = skip_unless_known({{"python.environments.packages.version", &package.version}})) return {*skip};
    versions.insert(*package.version);
    sites.insert(site_of(package.dist_info));
  }
  if (versions.size() > 1) {
    return {sdk_finding(warn("the ROCm SDK wheels have different versions: " +
                             join({versions.begin(), versions.end()}, ", ")),
                        environment, sdk,
                        "They are parts of one build. Mixed, links between them lead nowhere and libraries miss "
                        "symbols; PyTorch itself only warns.")};
  }
  if (sites.size() > 1) {
    return {sdk_finding(warn("the ROCm SDK wheels lie in different folders"), environment, sdk,
                        "They find each other by relative paths, which only works in one folder.")};
  }
  if (environment.devel.is(DevelState::interrupted)) {
    Finding finding = warn("the expansion of rocm-sdk-devel was interrupted");
    finding.evidence = {{"rocm_sdk_devel", "its archive is still there beside _rocm_sdk_devel"}};
    finding.cause = "The archive is removed as the last step, so the tree is incomplete.";
    finding.remedies = {{"Expand it again; it takes several gigabytes.",
                         {shell_word(environment.prefix + "/bin/rocm-sdk") + " init"},
                         {}}};
    finding.verify = shell_word(environment.prefix + "/bin/rocm-sdk") + " test";
    return {finding};
  }
  if (versions.empty()) return {info("the ROCm SDK is there without records of its wheels")};
  return {pass(counted(sdk.size(), "ROCm SDK wheel") + " of version " + *versions.begin() + "; devel: " +
               std::string(enum_name(*environment.devel)))};
}

std::vector<Finding> check_sageattention(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.packages", &environment.packages}})) return {*skip};
  const Packages sage =
      select(*environment.packages, [](const PythonPackage& package) { return package.name == "sageattention"; });
  if (sage.empty()) return {not_applicable("SageAttention is not installed")};
  if (auto skip = skip_unless_known({{"python.environments.packages.version", &sage.front().version}})) return {*skip};
  const std::string& version = *sage.front().version;
  const auto parsed = parse_version(version);
  if (!parsed) return {make_finding(Status::skip, "unknown: \"" + version + "\" is no version")};
  if (version_below(version, "2")) return {pass("SageAttention " + version + " is made of Triton kernels")};
  if (contains_ignoring_case(version, "rocm") || contains_ignoring_case(version, "hip")) {
    return {info("SageAttention " + version + " is a fork for ROCm")};
  }
  Finding finding = warn("SageAttention " + version + " is made for CUDA only");
  finding.evidence = package_evidence(sage);
  if (environment.sage_binaries.known()) {
    finding.evidence.push_back({site_of(sage.front().dist_info) + "/sageattention",
                                environment.sage_binaries->empty() ? "no compiled modules"
                                                                   : join(*environment.sage_binaries, " ")});
  }
  finding.cause = "Its kernels from version 2 on are CUDA code, built by nvcc alone. CUDA_HOME does not change that.";
  finding.confidence = Confidence::likely;
  finding.remedies = {{"Use version 1.0.6, whose kernels are Triton's.",
                       {pip_install(environment) + " --no-deps sageattention==1.0.6"},
                       {}}};
  finding.verify = pip_install(environment) + " --dry-run --no-deps sageattention==1.0.6";
  return {finding};
}

}  // namespace sage
