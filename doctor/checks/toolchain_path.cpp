// What turns a good compiler into a failing one: variables that send clang elsewhere for device libraries, a script of
// the same name in front of it, and missing host tools (facts/wheels.md 2.4, P8; facts/bugs.md B25).

#include <algorithm>
#include <array>

#include "doctor/checks/distribution.hpp"
#include "doctor/checks/python_common.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/toolchain_rows.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/toolchain/choice.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

/// A compiler that finds its device libraries by itself, as long as no variable interferes; the one on PATH first.
const Toolchain* self_sufficient(const std::vector<Toolchain>& compilers) {
  const Toolchain* found = nullptr;
  for (const Toolchain& compiler : compilers) {
    if (!compiler.device_libraries.known() || compiler.device_libraries->empty()) continue;
    if (compiler.on_path.is(true)) return &compiler;
    if (found == nullptr) found = &compiler;
  }
  return found;
}

Finding astray(const Facts& facts, const NamedDeviceLibraries& named, const Toolchain& compiler, std::string observed,
               std::string cause) {
  const Variable* variable = facts.environment.find(named.variable);
  Finding finding = warn(std::move(observed), named.variable);
  finding.evidence = {{named.variable, named.path},
                      {compiler.path, "its own device libraries: " + *compiler.device_libraries}};
  finding.cause = std::move(cause);
  if (variable != nullptr) finding.remedies = {unset_remedy({variable})};
  finding.verify = "sage-doctor check --only toolchain.poisoned";
  return finding;
}

Finding judge_named(const Facts& facts, const NamedDeviceLibraries& named, const Toolchain& compiler) {
  const std::string& folder = *named.folder;
  if (folder.empty()) {
    return astray(facts, named, compiler, named.variable + "=" + named.path + " leads to no device libraries",
                  "clang looks there and nowhere else: \"cannot find ROCm device library\".");
  }
  const std::string root = compiler.root.value_or("");
  const bool own = folder == *compiler.device_libraries || lies_in(folder, root);
  if (own || compiler.origin.is(ToolchainOrigin::distribution)) {
    return pass(named.variable + " leads to device libraries: " + folder, named.variable);
  }
  Finding finding = astray(facts, named, compiler,
                           named.variable + " sends " + compiler_label(compiler) + " to the device libraries of another "
                           "ROCm: " + folder,
                           "A compiler and device libraries of different releases fit each other by luck only.");
  finding.confidence = Confidence::likely;
  return finding;
}

// ---- toolchain.build-tools

std::string path_of(const std::vector<BuildTool>& tools, std::string_view name) {
  for (const BuildTool& tool : tools) {
    if (tool.name == name) return tool.path.value_or("");
  }
  return "";
}

bool has_triton(const PythonEnvironment& environment) {
  const auto& packages = *environment.packages;
  return std::any_of(packages.begin(), packages.end(),
                     [](const PythonPackage& package) { return contains(package.name, "triton"); });
}

constexpr FamilyCommand install_build_tools = {
    "sudo apt install build-essential ninja-build git python3-dev",
    "sudo dnf install gcc gcc-c++ make ninja-build git python3-devel",
    "sudo pacman -S --needed base-devel ninja git",
    "sudo zypper install gcc gcc-c++ make ninja git python3-devel",
};

}  // namespace

std::vector<Finding> check_poisoned(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_compilers(facts)) return {*skip};
  const auto& variables = facts.toolchains.named_device_libraries;
  if (auto skip = skip_unless_known({{"toolchains.named_device_libraries", &variables}})) return {*skip};
  if (variables->empty()) return {pass("neither HIP_DEVICE_LIB_PATH nor ROCM_PATH is set")};
  for (const Toolchain& compiler : *facts.toolchains.compilers) {
    if (auto skip = skip_unless_known({{"toolchains.compilers.device_libraries", &compiler.device_libraries},
                                       {"toolchains.compilers.origin", &compiler.origin},
                                       {"toolchains.compilers.root", &compiler.root},
                                       {"toolchains.compilers.on_path", &compiler.on_path}})) {
      return {*skip};
    }
  }
  const Toolchain* compiler = self_sufficient(*facts.toolchains.compilers);
  if (compiler == nullptr) return {info("no compiler here has device libraries that a variable could hide")};
  std::vector<Finding> findings;
  for (const NamedDeviceLibraries& named : *variables) {
    auto skip = skip_unless_known({{"toolchains.named_device_libraries.folder", &named.folder}}, named.variable);
    findings.push_back(skip ? *skip : judge_named(facts, named, *compiler));
  }
  return findings;
}

std::vector<Finding> check_trampoline_shadows(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_compilers(facts)) return {*skip};
  const Toolchain* first = nullptr;
  const Toolchain* system = nullptr;
  for (const Toolchain& compiler : *facts.toolchains.compilers) {
    if (!compiler.kind.is(CompilerKind::hipcc)) continue;
    if (auto skip = skip_unless_known({{"toolchains.compilers.on_path", &compiler.on_path},
                                       {"toolchains.compilers.trampoline", &compiler.trampoline},
                                       {"toolchains.compilers.origin", &compiler.origin}})) {
      return {*skip};
    }
    if (*compiler.on_path) first = &compiler;
    if (compiler.origin.is(ToolchainOrigin::rocm_root) && system == nullptr) system = &compiler;
  }
  if (first == nullptr) return {info("there is no hipcc on PATH; none is needed to run PyTorch")};
  if (!*first->trampoline) return {pass("hipcc on PATH is " + first->path)};
  // That of an activated environment is the one that is meant.
  const auto& environments = facts.python.environments;
  if (auto skip = skip_unless_known({{"python.environments", &environments}})) return {*skip};
  bool of_environment = false;
  for (const PythonEnvironment& one : *environments) {
    if (!lies_in(first->path, one.prefix)) continue;
    if (auto skip = skip_unless_known({{"python.environments.kind", &one.kind}})) return {*skip};
    of_environment = of_environment || !one.kind.is(PythonKind::system);
  }
  if (of_environment || system == nullptr) return {pass("hipcc on PATH starts that of the wheel rocm-sdk-core")};
  Finding finding = warn(first->path + " stands before the hipcc of " + system->root.value_or("ROCm"));
  finding.evidence = {{first->path, "a Python script of the wheel rocm-sdk-core"}, {system->path, compiler_label(*system)}};
  finding.cause = "pip installed the ROCm SDK for the whole system; its scripts hide the programs of the ROCm there.";
  finding.remedies = {{"Put the ROCm first in PATH, or keep the SDK wheels in an environment of their own.",
                       {"export PATH=" + shell_word(parent_folder(system->path)) + ":\"$PATH\""},
                       {}}};
  finding.verify = "command -v hipcc";
  return {finding};
}

std::vector<Finding> check_build_tools(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_rocm_torch(facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(facts);
  if (auto skip = skip_unless_known({{"toolchains.build_tools", &facts.toolchains.build_tools},
                                     {"python.environments.packages", &environment.packages},
                                     {"toolchains.compilers", &facts.toolchains.compilers}})) {
    return {*skip};
  }
  const std::vector<BuildTool>& tools = *facts.toolchains.build_tools;
  for (const BuildTool& tool : tools) {
    if (auto skip = skip_unless_known({{"toolchains.build_tools.path", &tool.path}})) return {*skip};
  }
  const auto there = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return !path_of(tools, name).empty(); });
  };
  std::vector<std::string> missing;
  const bool c_compiler = there({"cc", "gcc", "clang"});
  if (!c_compiler) missing.emplace_back("a C compiler");
  if (!there({"c++", "g++"})) missing.emplace_back("g++");
  for (const char* name : {"make", "ninja", "git", "Python.h"}) {
    if (!there({name})) missing.emplace_back(name);
  }
  if (missing.empty()) return {pass("C and C++ compiler, make, ninja, git and Python.h are there")};

  const bool builds = best_toolchain(facts, input.tables, target_to_build_for(facts), BuildPurpose::extensions) != nullptr;
  const bool triton_suffers = !c_compiler && has_triton(environment);
  Finding finding = info("not there for building extensions: " + join(missing, ", "));
  finding.evidence = {{"PATH", "not there: " + join(missing, ", ")}};
  finding.remedies = {{"Install what is missing.", {}, {Need::sudo}}};
  const std::string command = command_for(package_family(facts.platform.distribution), install_build_tools);
  if (!command.empty()) finding.remedies.front().commands = {command};
  finding.verify = "command -v cc c++ make ninja git";
  if (triton_suffers) {
    finding.status = Status::warn;
    finding.observed = "there is no C compiler: Triton kernels and torch.compile will fail";
    finding.cause = "Triton compiles its launcher with the host's C compiler the first time a kernel runs.";
  } else if (builds && !there({"c++", "g++"})) {
    finding.status = Status::warn;
    finding.observed = "a ROCm for building is there, but no C++ compiler for the host's part of extensions";
    finding.cause = "Extensions are compiled by hipcc and by the host's C++ compiler.";
  }
  return {finding};
}

}  // namespace sage
