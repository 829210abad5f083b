// What a compiler needs around it. ROCM_PATH and HIP_PATH lead hipcc and CMake to the tree; but with ROCM_PATH set,
// clang looks for device libraries only where old releases had them, so a tree with another layout also needs
// HIP_DEVICE_LIB_PATH (facts/wheels.md 2.4). ROCM_HOME is what torch.utils.cpp_extension asks for first (2.5). A tree
// below /usr is found by everybody and gets no variable: ROCM_PATH=/usr would lead others astray.

#include <algorithm>
#include <utility>

#include "doctor/checks/build_jobs.hpp"
#include "doctor/env/plan_parts.hpp"
#include "doctor/env/toolchain_choice.hpp"
#include "doctor/toolchain/verdict.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

/// A plain name of PATH leads there already, be it by way of a wheel's trampoline.
bool on_path(const Facts& facts, const Toolchain& toolchain) {
  if (toolchain.on_path.is(true)) return true;
  const std::vector<Toolchain>& all = *facts.toolchains.compilers;
  return std::any_of(all.begin(), all.end(), [&](const Toolchain& other) {
    return other.trampoline.is(true) && other.on_path.is(true) && other.root.known() && other.root == toolchain.root;
  });
}

/// Folders that hold a python: in front of PATH they would exchange it.
bool holds_python(const Facts& facts, const Toolchain& toolchain, const std::string& folder) {
  if (toolchain.origin.is(ToolchainOrigin::conda)) return true;
  for (const PythonEnvironment& environment : facts.python.environments.value_or({})) {
    if (folder == environment.prefix + "/bin") return true;
  }
  return false;
}

const TorchRocmHome* torch_home(const Facts& facts, const TorchInstall& torch) {
  if (!facts.toolchains.torch_rocm_homes.known()) return nullptr;
  const auto& homes = *facts.toolchains.torch_rocm_homes;
  const auto home = std::find_if(homes.begin(), homes.end(),
                                 [&](const TorchRocmHome& one) { return one.torch_folder == torch.folder; });
  return home == homes.end() ? nullptr : &*home;
}

void add_rocm_home(const CheckInput& input, const Toolchain& toolchain, const std::vector<std::string>& targets,
                   std::vector<EnvSetting>& settings) {
  const Facts& facts = input.facts;
  const TorchInstall* torch = rocm_torch(facts);
  if (torch == nullptr || targets.empty()) return;
  const std::string& root = *toolchain.root;
  if (verdict_of(toolchain, BuildPurpose::extensions, targets.front(), input.tables).can == CanBuild::yes) {
    settings.push_back(
        set_to("ROCM_HOME", root, "What PyTorch's cpp_extension asks for first; this root has the headers."));
    return;
  }
  // ROCM_PATH would draw PyTorch away from a better choice of its own.
  const TorchRocmHome* home = torch_home(facts, *torch);
  if (home == nullptr || !home->path.known() || !home->path->has_value() || !home->has_headers.is(true)) return;
  if (**home->path != root && !(*home->path)->empty()) {
    settings.push_back(set_to("ROCM_HOME", **home->path,
                              "PyTorch's own choice for extensions (" + home->rule.value_or("") +
                                  "); ROCM_PATH would draw it to a root without their headers."));
  }
}

}  // namespace

std::vector<EnvSetting> toolchain_settings(const CheckInput& input, const Toolchain& toolchain,
                                           const std::vector<std::string>& targets) {
  const Facts& facts = input.facts;
  std::vector<EnvSetting> settings;
  const std::string& root = *toolchain.root;
  const bool own_tree = root != "/" && root != "/usr" && root != "/usr/local";
  if (own_tree) {
    settings.push_back(set_to("ROCM_PATH", root, "The root of the toolchain, for hipcc, CMake and build scripts."));
    settings.push_back(set_to("HIP_PATH", root, "The same for what asks for HIP alone."));
    const std::string& libraries = *toolchain.device_libraries;
    if (libraries != root + "/amdgcn/bitcode") {
      settings.push_back(set_to("HIP_DEVICE_LIB_PATH", libraries,
                                "The device libraries; with ROCM_PATH set clang looks for them elsewhere."));
    }
    const std::string folder = parent_folder(toolchain.path);
    if (!on_path(facts, toolchain) && !is_system_folder(folder) && !holds_python(facts, toolchain, folder)) {
      settings.push_back(
          put_in_front("PATH", {folder}, "Its programs; by their plain names others, or none, would run."));
    }
    add_rocm_home(input, toolchain, targets, settings);
  }
  if (rocm_torch(facts) != nullptr && !targets.empty()) {
    settings.push_back(set_to("PYTORCH_ROCM_ARCH", join(targets, ";"),
                              "Extensions are built for this machine's GPU and nothing else."));
  }
  if (const Fact<std::uint64_t> jobs = lasting_build_jobs(facts.platform);
      jobs.known() && *jobs < *facts.platform.usable_cpus) {
    settings.push_back(set_to("MAX_JOBS", std::to_string(*jobs),
                              "Compiler jobs at a time: 3 GiB of memory for each, 2 GiB for all else; one for each "
                              "of " +
                                  std::to_string(*facts.platform.usable_cpus) + " CPUs might not fit."));
  }
  return settings;
}

}  // namespace sage
