// Where the PyTorch in use gets its HIP runtime from, and what can come between the two (facts/wheels.md P3, P14, P15,
// 2.6, 2.10).

#include <algorithm>
#include <optional>

#include "doctor/checks/python_common.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

std::string family_in_words(TorchFamily family) {
  switch (family) {
    case TorchFamily::fat:
      return "brings its own HIP runtime";
    case TorchFamily::thin:
      return "uses the ROCm SDK wheels beside it";
    case TorchFamily::lightweight:
      return "uses the ROCm of the system";
    case TorchFamily::source:
      return "was built here and uses the ROCm of the system";
  }
  return "?";
}

// ---- python.torch-runpath

bool is_hip_runtime(std::string_view name) {
  return name.starts_with("libamdhip64") || name.starts_with("libhsa-runtime64");
}

/// The first folder of LD_LIBRARY_PATH that is one of ROCm by its name or by what lies in it; empty when none is.
std::string rocm_in_library_path(const Facts& facts) {
  for (const NamedPath& named : *facts.environment.named_paths) {
    if (named.variable != "LD_LIBRARY_PATH" || !named.exists.is(true)) continue;
    if (contains(named.path, "/rocm")) return named.path;
    for (const LibraryCopy& copy : facts.libraries.copies.value_or({})) {
      const std::size_t slash = copy.path.rfind('/');
      if (slash != std::string::npos && copy.path.substr(0, slash) == named.path &&
          is_hip_runtime(copy.path.substr(slash + 1))) {
        return named.path;
      }
    }
  }
  return "";
}

// ---- python.system-rocm

/// The number in the SONAME of libamdhip64 of a ROCm release: it is HIP's, which stayed 7 (facts/wheels.md 2.6).
std::optional<std::uint32_t> soname_major(const std::string& rocm_version) {
  const auto version = parse_version(rocm_version);
  if (!version) return std::nullopt;
  const std::uint32_t major = version->parts.front();
  if (major >= 5 && major <= 7) return major;
  return major == 10 ? std::optional<std::uint32_t>(7) : std::nullopt;
}

std::string soname_for(std::uint32_t major) {
  return "libamdhip64.so." + std::to_string(major);
}

std::vector<Evidence> root_evidence(const Facts& facts) {
  std::vector<Evidence> evidence;
  for (const RocmRoot& root : *facts.rocm.roots) {
    evidence.push_back({root.path, "ROCm " + root.version.value_or("of unknown version")});
  }
  return evidence;
}

bool a_root_has(const Facts& facts, const std::string& soname) {
  return std::any_of(facts.rocm.roots->begin(), facts.rocm.roots->end(), [&](const RocmRoot& root) {
    const auto major = root.version.known() ? soname_major(*root.version) : std::nullopt;
    return major && soname_for(*major) == soname;
  });
}

bool a_copy_has(const Facts& facts, const std::string& soname) {
  const auto copies = facts.libraries.copies.value_or({});
  return std::any_of(copies.begin(), copies.end(),
                     [&](const LibraryCopy& copy) { return copy.soname.is(soname); });
}

/// A PyTorch without a runtime: the system must have the one that it was linked with.
Finding judge_borrowed_runtime(const CheckInput& input, const TorchInstall& torch) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"python.environments.torch.needed_hip", &torch.needed_hip},
                                     {"rocm.roots", &facts.rocm.roots}})) {
    return *skip;
  }
  if (torch.needed_hip->empty()) {
    return make_finding(Status::skip, "unknown: " + torch.folder + "/lib/libtorch_hip.so names no HIP runtime");
  }
  const std::string& soname = torch.needed_hip->front();
  if (a_root_has(facts, soname)) return pass("the system's ROCm has the " + soname + " that PyTorch needs");
  if (a_copy_has(facts, soname)) return pass("there is a " + soname + ", which PyTorch needs");
  for (const RocmRoot& root : *facts.rocm.roots) {
    if (auto skip = skip_unless_known({{"rocm.roots.version", &root.version}})) return *skip;
  }
  const std::string observed = "PyTorch needs " + soname + " from the system, and no ROCm here has it";
  Finding finding = facts.libraries.copies.known() ? fail(observed) : warn(observed);
  finding.evidence = {{torch.folder + "/lib/libtorch_hip.so", "needs " + soname}};
  for (Evidence& row : root_evidence(facts)) finding.evidence.push_back(std::move(row));
  finding.cause = "This PyTorch has no HIP runtime of its own. The ROCm it was built with was replaced by another, or "
                  "never installed; `import torch` ends with \"cannot open shared object file\".";
  finding.confidence = Confidence::likely;
  finding.remedies = {{"Install a PyTorch that brings its runtime, or the ROCm whose HIP has the number in that name.",
                       install_rocm_torch(input).commands,
                       {}}};
  finding.verify = show_torch_command(environment_in_use(facts));
  return finding;
}

/// A PyTorch with its runtime runs whatever the system has; what is compiled for it does not.
Finding judge_beside_system(const CheckInput& input, const TorchInstall& torch) {
  const Facts& facts = input.facts;
  if (auto skip = skip_unless_known({{"python.environments.torch.hip", &torch.hip}, {"rocm.roots", &facts.rocm.roots}})) {
    return *skip;
  }
  if (facts.rocm.roots->empty()) return not_applicable("there is no ROCm besides PyTorch's");
  const auto hip = parse_version(torch.hip->value_or(""));
  if (!hip) return make_finding(Status::skip, "unknown: the HIP version of PyTorch");
  for (const RocmRoot& root : *facts.rocm.roots) {
    if (auto skip = skip_unless_known({{"rocm.roots.version", &root.version}})) return *skip;
    const auto major = soname_major(*root.version);
    if (!major || *major == hip->parts.front()) continue;
    Finding finding = info("PyTorch has HIP " + torch.hip->value_or("") + ", the ROCm in " + root.path + " is " +
                           *root.version);
    finding.evidence = root_evidence(facts);
    finding.cause = "PyTorch itself is not concerned. An extension compiled with that ROCm is linked to " +
                    soname_for(*major) + ", which PyTorch does not have; the process then has two runtimes.";
    finding.remedies = {{"Build extensions with a ROCm whose HIP is version " + std::to_string(hip->parts.front()) + ".",
                         {},
                         {}}};
    return finding;
  }
  return pass("PyTorch and the system's ROCm have the same " + soname_for(hip->parts.front()));
}

}  // namespace

std::vector<Finding> check_torch_family(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const TorchInstall& torch = torch_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.torch.family", &torch.family},
                                     {"python.environments.torch.family_evidence", &torch.family_evidence},
                                     {"python.environments.torch.other_families", &torch.other_families}})) {
    return {*skip};
  }
  const std::string observed = "PyTorch " + family_in_words(*torch.family);
  if (torch.other_families->empty()) {
    Finding finding = pass(observed);
    finding.evidence = {{torch.folder, *torch.family_evidence}};
    return {finding};
  }
  Finding finding = warn("parts of two kinds of PyTorch builds are mixed in " + torch.folder);
  finding.evidence = {{torch.folder, *torch.family_evidence}};
  for (const std::string& other : *torch.other_families) finding.evidence.push_back({torch.folder, other});
  finding.cause = "One build brings its HIP runtime, the other uses the ROCm SDK wheels. One was installed over the "
                  "other, and the process may load both runtimes.";
  finding.confidence = Confidence::likely;
  const PythonEnvironment& environment = environment_in_use(input.facts);
  finding.remedies = {{"Uninstall until pip finds nothing more, then install one build.",
                       {pip_uninstall(environment) + " torch", pip_uninstall(environment) + " torch"},
                       {}},
                      install_rocm_torch(input)};
  finding.verify = show_torch_command(environment);
  return {finding};
}

std::vector<Finding> check_torch_runpath(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const TorchInstall& torch = torch_in_use(input.facts);
  const Variable* variable = input.facts.environment.find("LD_LIBRARY_PATH");
  if (auto skip = skip_unless_known({{"python.environments.torch.family", &torch.family},
                                     {"python.environments.torch.rpath", &torch.rpath},
                                     {"python.environments.torch.runpath", &torch.runpath},
                                     {"environment.named_paths", &input.facts.environment.named_paths}})) {
    return {*skip};
  }
  if (needs_system_rocm(torch)) return {not_applicable("this PyTorch takes its libraries from the system's ROCm")};
  if (torch.runpath->empty()) return {pass("LD_LIBRARY_PATH cannot replace PyTorch's libraries (DT_RPATH)")};
  for (const NamedPath& named : *input.facts.environment.named_paths) {
    if (named.variable != "LD_LIBRARY_PATH") continue;
    if (auto skip = skip_unless_known({{"environment.named_paths.exists", &named.exists}})) return {*skip};
  }
  const std::string folder = rocm_in_library_path(input.facts);
  if (folder.empty()) return {pass("LD_LIBRARY_PATH holds no ROCm that would replace PyTorch's")};
  Finding finding = warn("LD_LIBRARY_PATH makes PyTorch load the ROCm libraries of " + folder + " instead of its own");
  finding.evidence = {{torch.folder + "/lib/libtorch_hip.so", "RUNPATH " + join(*torch.runpath, ":")},
                      {"LD_LIBRARY_PATH", folder}};
  finding.cause = "This build names its folders in DT_RUNPATH, which the loader asks after LD_LIBRARY_PATH; wheels since "
                  "August 2023 have DT_RPATH, which it asks before.";
  if (variable != nullptr) finding.remedies.push_back(unset_remedy({variable}));
  finding.remedies.push_back(install_rocm_torch(input));
  finding.verify = show_torch_command(environment_in_use(input.facts));
  return {finding};
}

std::vector<Finding> check_system_rocm(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const TorchInstall& torch = torch_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.torch.family", &torch.family}})) return {*skip};
  return {needs_system_rocm(torch) ? judge_borrowed_runtime(input, torch) : judge_beside_system(input, torch)};
}

std::vector<Finding> check_import_hang(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const TorchInstall& torch = torch_in_use(input.facts);
  const Fact<bool>& kfd = input.facts.devices.kfd.present;
  if (auto skip = skip_unless_known({{"python.environments.torch.numa_without_alias", &torch.numa_without_alias}})) {
    return {*skip};
  }
  if (!*torch.numa_without_alias) return {pass("torch/lib is not of the builds that may hang at import")};
  if (auto skip = skip_unless_known({{"devices.kfd.present", &kfd}})) return {*skip};
  if (*kfd) return {info("this PyTorch may hang at import where /dev/kfd is missing; here it is there")};
  Finding finding = warn("`import torch` may hang: this build does so at times on machines without /dev/kfd");
  finding.evidence = {{torch.folder + "/lib", "libnuma.so.1 without libnuma.so"}, {"/dev/kfd", "does not exist"}};
  finding.cause = "rocSHMEM in this wheel looks for libnuma.so, gives up and ends the process while it is still being "
                  "loaded. Wheels for ROCm 7.1 and 7.2 built from May to July 2026 do that.";
  finding.confidence = gpu_behind_dxg(input.facts) ? Confidence::possible : Confidence::likely;
  finding.remedies = {{"Install a newer build of PyTorch.", install_rocm_torch(input).commands, {}},
                      {"Or give the loader a libnuma.so: on Debian and Ubuntu the package libnuma-dev has it.",
                       {"sudo apt install libnuma-dev"},
                       {Need::sudo}}};
  finding.verify = "timeout 60 " + show_torch_command(environment_in_use(input.facts));
  return {finding};
}

std::vector<Finding> check_amdsmi(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.packages", &environment.packages}})) return {*skip};
  const auto found = select_packages(*environment.packages,
                                     [](const PythonPackage& package) { return package.name == "amdsmi"; });
  if (found.empty()) return {pass("no amdsmi package of its own beside PyTorch")};
  Finding finding = warn("the package amdsmi beside PyTorch may make it count no GPU");
  finding.evidence = package_evidence(found);
  finding.cause = "PyTorch counts GPUs through amdsmi when it can be imported. One with a libamd_smi of another ROCm than "
                  "PyTorch's gives 0.";
  finding.confidence = Confidence::possible;
  finding.remedies = {{"If torch.cuda.device_count() is 0, remove it; PyTorch then asks the HIP runtime.",
                       {pip_uninstall(environment) + " amdsmi"},
                       {}}};
  finding.verify = show_torch_command(environment);
  return {finding};
}

}  // namespace sage
