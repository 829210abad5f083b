// What PyTorch builds extensions with: torch.utils.cpp_extension.ROCM_HOME. A popular guide believes that it points into
// the torch package and that bin/hipcc lies there. In no wheel does it (facts/wheels.md 2.1, 2.5; facts/article.md 1).

#include <algorithm>
#include <array>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/python_common.hpp"
#include "doctor/checks/toolchain_rows.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/toolchain/choice.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

constexpr const char* no_hipcc_in_torch = "The torch package has no bin/hipcc in any wheel: it brings the HIP runtime only.";

std::string show_rocm_home(const Facts& facts) {
  const PythonEnvironment& environment = environment_in_use(facts);
  return shell_word(environment.executable) +
         " -c 'from torch.utils.cpp_extension import ROCM_HOME; print(ROCM_HOME)'";
}

/// A variable whose folder is not there is told by env.rocm-paths.
bool variable_leads_nowhere(const Facts& facts, const std::string& rule, const std::string& path) {
  if (rule != "ROCM_HOME" && rule != "ROCM_PATH") return false;
  if (!path.starts_with('/')) return true;
  const auto& named = facts.environment.named_paths;
  return named.known() && std::any_of(named->begin(), named->end(), [&](const NamedPath& one) {
           return one.path == path && one.exists.is(false);
         });
}

std::vector<Remedy> rocm_home_remedies(const CheckInput& input) {
  const std::string sdk = sdk_root_in_use(input.facts);
  if (!sdk.empty()) {
    return {{"Say where the ROCm SDK wheel is when you build.", {"export ROCM_HOME=" + shell_word(sdk)}, {}}};
  }
  const Toolchain* best =
      best_toolchain(input.facts, input.tables, target_to_build_for(input.facts), BuildPurpose::extensions);
  if (best != nullptr && best->root.known()) {
    return {{"Say where a complete ROCm is when you build.", {"export ROCM_HOME=" + shell_word(*best->root)}, {}}};
  }
  return {{"To build extensions, install ROCm's compiler and headers; to run PyTorch nothing is needed.", {}, {}}};
}

std::optional<Finding> skip_without_home(const Facts& facts) {
  if (auto skip = skip_without_rocm_torch(facts)) return skip;
  if (auto skip = skip_unless_known({{"toolchains.torch_rocm_homes", &facts.toolchains.torch_rocm_homes}})) return skip;
  const TorchRocmHome* home = rocm_home_in_use(facts);
  if (home == nullptr) return not_applicable("ROCM_HOME of this PyTorch was not looked for");
  return skip_unless_known({{"toolchains.torch_rocm_homes.path", &home->path},
                            {"toolchains.torch_rocm_homes.rule", &home->rule},
                            {"toolchains.torch_rocm_homes.has_headers", &home->has_headers},
                            {"toolchains.torch_rocm_homes.has_hipcc", &home->has_hipcc},
                            {"toolchains.torch_rocm_homes.headers", &home->headers},
                            {"toolchains.torch_rocm_homes.hipcc_in_torch", &home->hipcc_in_torch}});
}

// ---- toolchain.extension-headers

constexpr auto wanted_headers = std::to_array<std::string_view>({"thrust", "rocprim", "hipblas"});

/// AMD's packages have names of their own since ROCm 7.13, when ROCm came to be built in another way.
bool has_amdrocm_packages(const Facts& facts, const std::string& root) {
  const std::vector<RocmRoot> roots = facts.rocm.roots.value_or({});
  return root.starts_with("/opt/rocm") && std::any_of(roots.begin(), roots.end(), [&](const RocmRoot& one) {
           return one.path == root && one.version.known() && !version_below(*one.version, "7.13");
         });
}

std::vector<Remedy> header_remedies(const Facts& facts, const std::string& root) {
  const PythonEnvironment& environment = environment_in_use(facts);
  const std::string rocm_sdk = shell_word(environment.prefix + "/bin/rocm-sdk");
  if (contains(root, "/_rocm_sdk_")) {
    if (environment.devel.is(DevelState::not_expanded)) {
      return {{"They are in the wheel rocm-sdk-devel, which is installed and not yet expanded (several gigabytes).",
               {rocm_sdk + " init"},
               {}}};
    }
    return {{"They are in the wheel rocm-sdk-devel of the same version and index; it takes several gigabytes.",
             {pip_install(environment) + " 'rocm[devel]'", rocm_sdk + " init"},
             {}}};
  }
  Remedy remedy{"Install the development packages of ROCm's libraries from where this ROCm came.", {}, {Need::sudo}};
  if (has_amdrocm_packages(facts, root)) {
    const std::string command = command_for(package_family(facts.platform.distribution),
                                            {"sudo apt install amdrocm-core-sdk", "sudo dnf install amdrocm-core-sdk", "",
                                             "sudo zypper install amdrocm-core-sdk"});
    if (!command.empty()) remedy.commands = {command};
    return {remedy};
  }
  const bool of_distribution = root == "/usr";
  const std::string command = command_for(
      package_family(facts.platform.distribution),
      {of_distribution ? "sudo apt install librocthrust-dev librocprim-dev libhipblas-dev"
                       : "sudo apt install rocthrust-dev rocprim-dev hipblas-dev hipsparse-dev hipsolver-dev",
       "sudo dnf install rocthrust-devel rocprim-devel hipblas-devel hipsparse-devel hipsolver-devel",
       "sudo pacman -S --needed rocm-hip-sdk", of_distribution ? "" : "sudo zypper install rocm-hip-sdk"});
  if (!command.empty()) remedy.commands = {command};
  return {remedy};
}

}  // namespace

std::vector<Finding> check_rocm_home(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_home(facts)) return {*skip};
  const TorchRocmHome& home = *rocm_home_in_use(facts);
  if (!home.path->has_value()) {
    Finding finding = info("PyTorch's ROCM_HOME is None: there is nothing to build extensions with");
    finding.evidence = {{home.torch_folder, "no bin/hipcc; no hipcc on PATH; no /opt/rocm"}};
    finding.cause = std::string(no_hipcc_in_torch) + " To run PyTorch none is needed.";
    finding.verify = show_rocm_home(facts);
    return {finding};
  }
  const std::string& path = **home.path;
  const std::string label = path.empty() ? "an empty text" : path;
  if (variable_leads_nowhere(facts, *home.rule, path)) return {not_applicable("env.rocm-paths judges " + *home.rule)};
  if (*home.has_headers) {
    Finding finding = pass("PyTorch builds extensions with " + path + " (by " + *home.rule + ")");
    finding.evidence = {{path + "/include/hip/hip_version.h", "is there"}};
    return {finding};
  }
  Finding finding = info("PyTorch takes " + label + " for ROCM_HOME, which has no HIP headers");
  finding.evidence = {{home.torch_folder, "its rule: " + *home.rule},
                      {path + "/include/hip/hip_version.h", "does not exist"},
                      {path + "/bin/hipcc", *home.has_hipcc ? "is there" : "does not exist"}};
  finding.verify = show_rocm_home(facts);
  finding.cause = "This ROCm has no development files. To run PyTorch none are needed.";
  // A ROCm without development files is a choice; a folder that was taken for one by mistake is not.
  if (*home.rule == "/opt/rocm") return {finding};
  finding.status = Status::warn;
  const bool environment_root = path == environment_in_use(facts).prefix;
  if (*home.rule == "empty") {
    finding.cause = "PyTorch before 2.1 takes an empty text when hipcc is not on PATH, and never tries /opt/rocm.";
  } else if (environment_root) {
    finding.cause = "hipcc on PATH is a script of the wheel rocm-sdk-core; PyTorch takes the folder two levels above "
                    "it, the root of the environment, for a ROCm installation.";
  } else if (*home.rule == "hipcc on PATH") {
    finding.cause = "PyTorch takes the folder two levels above the hipcc on PATH, and no ROCm lies there.";
  } else if (contains(*home.rule, "_rocm_sdk_")) {
    finding.cause = "The SDK package is incomplete: its HIP headers are not where every release has them.";
    finding.confidence = Confidence::likely;
  } else {
    finding.cause = "The variable " + *home.rule + " names it; variables come before all else.";
  }
  if (contains(*home.rule, "_rocm_sdk_")) {
    finding.remedies = {{"Install the package again, with the others of the same version.",
                         {pip_install(environment_in_use(facts)) + " --force-reinstall --no-deps rocm-sdk-core"},
                         {}}};
    return {finding};
  }
  finding.remedies = rocm_home_remedies(input);
  return {finding};
}

std::vector<Finding> check_extension_headers(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_home(facts)) return {*skip};
  const TorchRocmHome& home = *rocm_home_in_use(facts);
  if (!home.path->has_value() || !*home.has_headers) {
    return {not_applicable("PyTorch has no ROCm to build with (toolchain.rocm-home)")};
  }
  const std::string& root = **home.path;
  std::vector<std::string> missing;
  for (const std::string_view name : wanted_headers) {
    if (std::find(home.headers->begin(), home.headers->end(), name) == home.headers->end()) missing.emplace_back(name);
  }
  if (missing.empty()) return {pass("thrust, rocprim and hipblas are in " + root + "/include")};
  if (auto skip = skip_unless_known({{"python.environments.devel", &environment_in_use(facts).devel}})) return {*skip};
  // HIP alone is enough for many programs: only a tree that promises more is told to be incomplete.
  const DevelState devel = *environment_in_use(facts).devel;
  const bool promised = !home.headers->empty() || devel == DevelState::not_expanded || devel == DevelState::interrupted;
  Finding finding =
      make_finding(promised ? Status::warn : Status::info,
                   "the headers of " + join(missing, ", ") + " are missing: PyTorch extensions will not build");
  for (const std::string& name : missing) finding.evidence.push_back({root + "/include/" + name, "does not exist"});
  finding.cause = "PyTorch's own headers include them. A ROCm with HIP alone compiles HIP programs, not extensions.";
  finding.confidence = Confidence::likely;
  finding.remedies = header_remedies(facts, root);
  finding.verify = "ls -d " + shell_word(root + "/include/thrust") + " " + shell_word(root + "/include/hipblas");
  return {finding};
}

std::vector<Finding> check_stray_cuda(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_rocm_torch(facts)) return {*skip};
  if (auto skip = skip_without_compilers(facts)) return {*skip};
  Finding finding;
  for (const Toolchain& compiler : *facts.toolchains.compilers) {
    if (compiler.kind.is(CompilerKind::nvcc)) finding.evidence.push_back({compiler.path, compiler_label(compiler)});
  }
  std::vector<const Variable*> variables;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto value = facts.environment.get(name);
    if (auto skip = skip_unless_known({{"environment." + std::string(name), &value}})) return {*skip};
    if (!value->has_value() || (*value)->empty()) continue;
    variables.push_back(facts.environment.find(name));
    finding.evidence.push_back({name, **value});
  }
  if (finding.evidence.empty()) return {pass("there is no CUDA toolkit")};
  if (auto skip = skip_without_home(facts)) return {*skip};
  const TorchRocmHome& home = *rocm_home_in_use(facts);
  if (home.path->has_value()) {
    finding.status = Status::info;
    finding.observed = "a CUDA toolkit is there; PyTorch builds for HIP all the same, with " + **home.path;
    return {finding};
  }
  finding.status = Status::warn;
  finding.observed = "a CUDA toolkit is there and no ROCm: extensions of this PyTorch would be built for CUDA";
  finding.cause = "PyTorch builds for HIP only where it finds a ROCM_HOME; without one it takes nvcc, and the result "
                  "does not run on an AMD GPU.";
  finding.remedies = rocm_home_remedies(input);
  if (!variables.empty()) finding.remedies.push_back(unset_remedy(variables));
  finding.verify = environment_in_use(facts).executable +
                   " -c 'import torch.utils.cpp_extension as e; print(e.IS_HIP_EXTENSION, e.CUDA_HOME)'";
  return {finding};
}

}  // namespace sage
