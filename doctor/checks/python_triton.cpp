// The Triton beside a ROCm build of PyTorch: one distribution, the one that PyTorch asks for, in its version, and a HIP
// runtime that it can find (facts/wheels.md P13; facts/bugs.md B32).

#include <algorithm>
#include <iterator>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/python_common.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/requirement.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

using Packages = std::vector<PythonPackage>;

constexpr const char* libhip_variable = "TRITON_LIBHIP_PATH";

/// The requirements of torch that bring triton/. More than one when two records of torch lie there.
std::vector<std::string> triton_needs(const std::vector<std::string>& needs) {
  std::vector<std::string> found;
  std::copy_if(needs.begin(), needs.end(), std::back_inserter(found),
               [](const std::string& need) { return owns_triton(needed_name(need)); });
  return found;
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
  const std::vector<std::string> needs = triton_needs(torch.needs.value_or({}));
  const std::string need = needs.empty() ? "" : needs.front();
  const std::string index = index_of(torch.version.value_or(""));
  if (need.empty() || index.empty()) {
    remedy.text += " Take it from the index that PyTorch came from.";
  } else {
    remedy.commands.push_back(pip_install(environment) + " --no-deps " + shell_word(need) + " --index-url " + index);
  }
  return {remedy};
}

Finding triton_finding(const CheckInput& input, std::string observed, const Packages& owners, std::string cause) {
  const PythonEnvironment& environment = environment_in_use(input.facts);
  Finding finding = warn(std::move(observed));
  finding.evidence = package_evidence(owners);
  finding.cause = std::move(cause);
  finding.remedies = triton_remedies(environment, torch_in_use(input.facts), owners);
  finding.verify = pip_install(environment) + " --dry-run torch";
  return finding;
}

/// The Triton that an import gets; nullptr when there is none or it is not known.
const TritonInstall* triton_in_use(const Facts& facts) {
  const auto& triton = environment_in_use(facts).triton;
  return triton.known() && !triton->empty() ? &triton->front() : nullptr;
}

std::string label_of(const TritonInstall& triton) { return "Triton " + triton.version.value_or("of unknown version"); }

/// The linker that the SDK wheels brought; empty where there is none.
std::string linker_of_sdk(const Facts& facts) {
  if (!facts.toolchains.compilers.known()) return "";
  for (const Toolchain& compiler : *facts.toolchains.compilers) {
    if (compiler.origin.is(ToolchainOrigin::rocm_sdk_wheel) && compiler.linker.known() && !compiler.linker->empty()) {
      return *compiler.linker;
    }
  }
  return "";
}

Finding no_linker(const CheckInput& input, const TritonInstall& triton) {
  Finding finding = warn(label_of(triton) + " starts the linker ld.lld, and there is none where it looks");
  finding.evidence = {{triton.folder + "/backends/amd", "no llvm/bin/ld.lld"},
                      {"/opt/rocm/llvm/bin/ld.lld", "not there"},
                      {"/usr/bin/ld.lld", "not there"}};
  finding.cause = "Up to 3.4 Triton starts a linker for each kernel that it compiles; only some wheels bring one.";
  const std::string of_sdk = linker_of_sdk(input.facts);
  if (!of_sdk.empty()) {
    finding.remedies.push_back({"Tell it where the linker of the ROCm wheels is.",
                                {"export TRITON_HIP_LLD_PATH=" + shell_word(of_sdk)},
                                {}});
  }
  Remedy install{"Install the distribution's lld, or use a PyTorch with Triton 3.5 or newer, which links by itself.",
                 {},
                 {Need::sudo}};
  const std::string command = command_for(package_family(input.facts.platform.distribution),
                                          {"sudo apt install lld", "sudo dnf install lld", "sudo pacman -S --needed lld",
                                           "sudo zypper install lld"});
  if (!command.empty()) install.commands = {command};
  finding.remedies.push_back(std::move(install));
  finding.verify = "ls -l /usr/bin/ld.lld; echo \"[$TRITON_HIP_LLD_PATH]\"";
  return finding;
}

/// Where no variable names the HIP runtime. A thin PyTorch has it under the name with a number alone, and a Triton that
/// does not know the SDK wheels looks for the plain name, except among what is loaded (facts/wheels.md 2.7; bugs.md B33).
Finding finds_by_itself(const CheckInput& input) {
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const TorchInstall& torch = torch_in_use(input.facts);
  const auto hip_path = input.facts.environment.get("HIP_PATH");
  if (auto skip = skip_unless_known({{"python.environments.torch.family", &torch.family},
                                     {"python.environments.triton", &environment.triton},
                                     {"python.environments.devel", &environment.devel},
                                     {"environment.HIP_PATH", &hip_path}})) {
    return *skip;
  }
  const TritonInstall* triton = triton_in_use(input.facts);
  const Finding found = pass("Triton looks for the HIP runtime by itself");
  if (triton == nullptr || *torch.family != TorchFamily::thin || *environment.devel == DevelState::expanded) return found;
  if (auto skip = skip_unless_known({{"python.environments.triton.takes_sdk_first", &triton->takes_sdk_first},
                                     {"python.environments.triton.asks_hipconfig", &triton->asks_hipconfig}})) {
    return *skip;
  }
  const bool told = *triton->asks_hipconfig && hip_path->has_value() && !(*hip_path)->empty();
  if (*triton->takes_sdk_first || told) return found;
  Finding finding = info(label_of(*triton) + " finds the HIP runtime once PyTorch is loaded, and not before");
  finding.evidence = {{triton->folder + "/backends/amd/driver.py", "does not ask rocm_sdk"}};
  finding.cause = "The ROCm wheels have libamdhip64.so.7 and no libamdhip64.so, the name that it looks for. A program that "
                  "starts Triton first ends with \"cannot locate libamdhip64.so\".";
  finding.confidence = Confidence::likely;
  finding.remedies = {{"In a program of your own, import torch before triton. A newer Triton asks the wheels.", {}, {}}};
  return finding;
}

}  // namespace

std::vector<Finding> check_triton_parts(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.triton", &environment.triton},
                                     {"python.environments.packages", &environment.packages}})) {
    return {*skip};
  }
  const TritonInstall* triton = triton_in_use(input.facts);
  if (triton == nullptr) return {not_applicable("Triton is not installed beside PyTorch")};
  if (auto skip = skip_unless_known({{"python.environments.triton.starts_linker", &triton->starts_linker},
                                     {"python.environments.triton.linker", &triton->linker},
                                     {"python.environments.triton.bitcode", &triton->bitcode}})) {
    return {*skip};
  }
  std::vector<std::string> missing;
  for (const char* name : {"ocml.bc", "ockl.bc"}) {
    if (std::find(triton->bitcode->begin(), triton->bitcode->end(), name) == triton->bitcode->end()) missing.emplace_back(name);
  }
  if (!missing.empty()) {
    Finding finding = warn(label_of(*triton) + " lacks its device libraries: " + join(missing, ", "));
    finding.evidence = {{triton->folder + "/backends/amd/lib", "no " + join(missing, ", no ")}};
    finding.cause = "Files of the package were removed or never unpacked; kernels that call mathematical functions can't "
                    "be built.";
    finding.confidence = Confidence::likely;
    finding.remedies = triton_remedies(environment, torch_in_use(input.facts), tritons_in_use(input.facts));
    finding.verify = "ls " + shell_word(triton->folder + "/backends/amd/lib");
    return {finding};
  }
  if (*triton->starts_linker && triton->linker->empty()) return {no_linker(input, *triton)};
  const std::string linker = *triton->starts_linker ? "the linker " + *triton->linker : "a linker inside";
  return {pass(label_of(*triton) + " has device libraries and " + linker)};
}

std::vector<Finding> check_triton_conflict(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const TorchInstall& torch = torch_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.packages", &environment.packages}})) return {*skip};
  const Packages owners = tritons_in_use(input.facts);
  if (owners.empty()) return {info("Triton is not installed beside PyTorch")};
  if (owners.size() > 1) {
    return {triton_finding(input,
                           counted(owners.size(), "distribution") + " share the folder triton: " +
                               names_of(owners, ", "),
                           owners, "They install the same folder; each overwrote files of the other.")};
  }
  if (auto skip = skip_unless_known({{"python.environments.torch.needs", &torch.needs}})) return {*skip};
  const PythonPackage& owner = owners.front();
  const std::string version = owner.version.value_or("of unknown version");
  std::vector<std::string> needs = triton_needs(*torch.needs);
  const std::string need = needs.empty() ? "" : needs.front();
  std::erase_if(needs, [&](const std::string& one) { return needed_name(one) != owner.name; });
  if (!need.empty() && needs.empty()) {
    Finding finding =
        triton_finding(input, "PyTorch asks for " + need + ", but the Triton here is " + owner.name + " " + version,
                       owners, "Another package brought its own Triton, which need not know this GPU or this ROCm.");
    finding.confidence = Confidence::likely;
    return {finding};
  }
  if (auto skip = skip_unless_known({{"python.environments.packages.version", &owner.version}})) return {*skip};
  const bool unmet = std::all_of(needs.begin(), needs.end(), [&](const std::string& one) {
    return meets_requirement(one, *owner.version) == std::optional<bool>(false);
  });
  if (!needs.empty() && unmet) {
    return {triton_finding(input, "PyTorch asks for " + needs.front() + ", but " + owner.name + " " + version + " is installed",
                           owners,
                           "It was upgraded or held back by another package. PyTorch's compiler uses parts of Triton "
                           "that change from version to version.")};
  }
  return {pass(owner.name + " " + version + " is the only Triton")};
}

std::vector<Finding> check_triton_libhip(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const Variable* variable = input.facts.environment.find(libhip_variable);
  const Fact<std::optional<std::string>> value = input.facts.environment.get(libhip_variable);
  if (auto skip = skip_unless_known({{"python.environments.packages", &environment.packages},
                                     {"environment.TRITON_LIBHIP_PATH", &value},
                                     {"environment.named_paths", &input.facts.environment.named_paths}})) {
    return {*skip};
  }
  if (tritons_in_use(input.facts).empty()) return {not_applicable("Triton is not installed beside PyTorch")};
  if (variable == nullptr || !value->has_value() || (*value)->empty()) {
    return {finds_by_itself(input)};
  }
  const std::string& path = **value;
  const auto& named = *input.facts.environment.named_paths;
  const auto there = std::find_if(named.begin(), named.end(),
                                  [](const NamedPath& one) { return one.variable == libhip_variable; });
  const TritonInstall* triton = triton_in_use(input.facts);
  const bool plain_name = path.ends_with("libamdhip64.so");
  const bool numbered = !plain_name && file_name(path).starts_with("libamdhip64.so");
  if (numbered) {
    if (auto skip = skip_unless_known({{"python.environments.triton", &environment.triton}})) return {*skip};
  }
  if (numbered && triton != nullptr) {
    if (auto skip = skip_unless_known({{"python.environments.triton.takes_numbered_name", &triton->takes_numbered_name}})) {
      return {*skip};
    }
  }
  const bool right_name = plain_name || (numbered && triton != nullptr && *triton->takes_numbered_name);
  if (right_name && there == named.end()) {
    return {make_finding(Status::skip, "unknown: environment.named_paths (" + path + " was not looked at)")};
  }
  if (right_name) {
    if (auto skip = skip_unless_known({{"environment.named_paths.exists", &there->exists}})) return {*skip};
    if (*there->exists) return {pass("Triton uses the HIP runtime " + path)};
  }
  Finding finding = fail(std::string(libhip_variable) + " names " + path + (right_name ? ", which does not exist" : ""));
  finding.evidence = variable_evidence(*variable);
  finding.cause = right_name ? "Triton ends with a RuntimeError where the variable names no file."
                             : "This Triton takes only a file whose name ends in libamdhip64.so, without a number after "
                               "it, and ends with a RuntimeError otherwise.";
  finding.remedies = {unset_remedy({variable})};
  finding.verify = std::string("echo \"[$") + libhip_variable + "]\"    # nothing";
  return {finding};
}

}  // namespace sage
