// The ROCm SDK wheels that a thin PyTorch lives on: are they all there, of one build, in one folder, and whole on disk
// (facts/wheels.md P5, P7; facts/bugs.md B31)?

#include <algorithm>
#include <set>

#include "doctor/checks/python_common.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/requirement.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

using Packages = std::vector<PythonPackage>;

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

/// The SDK that torch's record asks for, when the one that is there is another; empty otherwise.
std::string unmet_sdk_need(const TorchInstall& torch, const Packages& sdk) {
  for (const std::string& need : torch.needs.value_or({})) {
    for (const PythonPackage& package : sdk) {
      if (needed_name(need) == package.name && package.version.known() &&
          meets_requirement(need, *package.version) == std::optional<bool>(false)) {
        return need;
      }
    }
  }
  return "";
}

// ---- python.rocm-sdk-files

std::vector<Evidence> as_evidence(const std::vector<std::string>& paths, const std::string& what) {
  std::vector<Evidence> evidence;
  for (const std::string& path : paths) evidence.push_back({path, what});
  return evidence;
}

/// Reinstalling the wheel restores its archive, so that it can be expanded anew.
Remedy expand_again(const PythonEnvironment& environment, const Packages& sdk) {
  const auto devel = std::find_if(sdk.begin(), sdk.end(),
                                  [](const PythonPackage& package) { return package.name == "rocm-sdk-devel"; });
  const std::string version = devel == sdk.end() ? "" : "==" + devel->version.value_or("");
  const bool uv = environment.kind.is(PythonKind::uv);
  return {"Install rocm-sdk-devel again, with --index-url and the index that it came from, and expand it; that takes "
          "several gigabytes.",
          {pip_install(environment) + (uv ? " --reinstall" : " --force-reinstall") + " --no-deps " +
               shell_word("rocm-sdk-devel" + (version == "==" ? "" : version)),
           shell_word(environment.prefix + "/bin/rocm-sdk") + " init"},
          {}};
}

}  // namespace

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
  const Packages sdk = select_packages(*environment.packages, of_rocm_sdk);
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
    sites.insert(parent_folder(package.dist_info));
  }
  if (versions.size() > 1) {
    return {sdk_finding(warn("the ROCm SDK wheels have different versions: " +
                             join({versions.begin(), versions.end()}, ", ")),
                        environment, sdk,
                        "They are parts of one build. Mixed, links between them lead nowhere and libraries miss "
                        "symbols; PyTorch itself only warns.")};
  }
  if (const std::string need = unmet_sdk_need(torch, sdk); !need.empty()) {
    return {sdk_finding(warn("PyTorch asks for " + need + ", the ROCm SDK wheels are " + *versions.begin()), environment,
                        sdk, "The SDK was upgraded or held back without PyTorch, which only warns at import.")};
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
  if (auto skip = skip_unless_known({{"python.environments.torch.needs", &torch.needs}})) return {*skip};
  if (versions.empty()) return {info("the ROCm SDK is there without records of its wheels")};
  return {pass(counted(sdk.size(), "ROCm SDK wheel") + " of version " + *versions.begin() + "; devel: " +
               std::string(enum_name(*environment.devel)))};
}

std::vector<Finding> check_rocm_sdk_files(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const TorchInstall& torch = torch_in_use(input.facts);
  const SdkFiles& files = environment.sdk;
  if (auto skip = skip_unless_known({{"python.environments.torch.family", &torch.family},
                                     {"python.environments.packages", &environment.packages},
                                     {"python.environments.sdk.dangling", &files.dangling},
                                     {"python.environments.sdk.copied", &files.copied},
                                     {"python.environments.sdk.missing_bitcode", &files.missing_bitcode}})) {
    return {*skip};
  }
  if (!torch.family.is(TorchFamily::thin)) return {not_applicable("this PyTorch uses no ROCm SDK wheels")};
  const Packages sdk = select_packages(*environment.packages, of_rocm_sdk);
  if (!files.dangling->empty()) {
    Finding finding = sdk_finding(
        warn("runtime libraries are links to files that are gone: " + files.dangling->front()), environment,
        sdk, "One of the SDK wheels was upgraded or removed without the others.");
    finding.evidence = as_evidence(*files.dangling, "leads nowhere");
    return {finding};
  }
  if (!files.copied->empty()) {
    Finding finding = warn("the expanded rocm-sdk-devel has a HIP runtime of its own beside that of rocm-sdk-core");
    finding.evidence = as_evidence(*files.copied, "another file than the one in _rocm_sdk_core/lib");
    finding.cause = "The files of devel are hard links to those of core. Copying the environment, or installing core "
                    "again, made two of them; a program that loads both has two runtimes.";
    finding.confidence = Confidence::likely;
    finding.remedies = {expand_again(environment, sdk)};
    finding.verify = "sage-doctor check --only python.rocm-sdk-files";
    return {finding};
  }
  if (!files.missing_bitcode->empty()) {
    const std::string core = parent_folder(torch.folder) + "/_rocm_sdk_core/lib/llvm/amdgcn/bitcode";
    Finding finding = warn("the expanded rocm-sdk-devel lacks " + counted(files.missing_bitcode->size(), "file") +
                           " of device bitcode that rocm-sdk-core has");
    finding.evidence = as_evidence(*files.missing_bitcode, "missing in _rocm_sdk_devel");
    finding.cause = "Seen in 7.14 nightlies: HIP code does not compile with this tree as it is.";
    finding.confidence = Confidence::likely;
    finding.remedies = {{"Let the compiler take the bitcode of core.",
                         {"export HIP_DEVICE_LIB_PATH=" + shell_word(core)},
                         {}}};
    finding.verify = "sage-doctor check --only python.rocm-sdk-files";
    return {finding};
  }
  return {pass("the files of the ROCm SDK wheels fit together")};
}

}  // namespace sage
