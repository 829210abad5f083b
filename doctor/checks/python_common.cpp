#include "doctor/checks/python_common.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/requirement.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// ROCm 7.2 is the first whose stock runtime is supported under WSL2 (facts/wsl.md 2.6), and serves bare metal as well.
constexpr const char* upstream_index = "https://download.pytorch.org/whl/rocm7.2";
constexpr const char* amd_index = "https://repo.amd.com/rocm/whl-multi-arch/";

std::string interpreter(const PythonEnvironment& environment) {
  return shell_word(environment.executable.empty() ? environment.prefix + "/bin/python3" : environment.executable);
}

/// The target to install for: of a discrete GPU when there is one. Empty when unknown.
std::string target_to_serve(const Facts& facts) {
  std::string target;
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (!gpu.target.known()) continue;
    if (gpu.kind.is(GpuKind::discrete)) return *gpu.target;
    if (target.empty()) target = *gpu.target;
  }
  return target;
}

std::string how_found(const PythonEnvironment& environment) {
  if (!environment.found.known()) return "";
  return " (" + std::string(enum_name(*environment.found)) + ")";
}

/// They install the same folder (facts/wheels.md 2.7).
constexpr auto triton_names =
    std::to_array<std::string_view>({"triton", "triton-rocm", "pytorch-triton-rocm", "pytorch-triton"});

}  // namespace

bool owns_triton(std::string_view name) {
  return std::find(triton_names.begin(), triton_names.end(), name) != triton_names.end();
}

const PythonEnvironment& environment_in_use(const Facts& facts) {
  static const PythonEnvironment python_of_path = [] {
    PythonEnvironment environment;
    environment.executable = "python3";
    return environment;
  }();
  const auto& environments = facts.python.environments;
  return environments.known() && !environments->empty() ? environments->front() : python_of_path;
}

const TorchInstall& torch_in_use(const Facts& facts) {
  return environment_in_use(facts).torch->front();
}

std::optional<Finding> skip_without_environment(const Facts& facts) {
  if (auto skip = skip_without_gpu(facts)) return skip;
  if (auto skip = skip_unless_known({{"python.environments", &facts.python.environments}})) return skip;
  if (facts.python.environments->empty()) return not_applicable("no Python was found");
  return std::nullopt;
}

std::optional<Finding> skip_without_torch(const Facts& facts) {
  if (auto skip = skip_without_environment(facts)) return skip;
  const PythonEnvironment& environment = environment_in_use(facts);
  if (auto skip = skip_unless_known({{"python.environments.torch", &environment.torch}})) return skip;
  if (environment.torch->empty()) return not_applicable("no PyTorch in " + environment_label(environment));
  return std::nullopt;
}

std::optional<Finding> skip_without_rocm_torch(const Facts& facts) {
  if (auto skip = skip_without_torch(facts)) return skip;
  const TorchInstall& torch = torch_in_use(facts);
  if (auto skip = skip_unless_known({{"python.environments.torch.flavour", &torch.flavour}})) return skip;
  if (!torch.flavour.is(TorchFlavour::rocm)) return not_applicable("PyTorch is no ROCm build");
  return std::nullopt;
}

bool needs_system_rocm(const TorchInstall& torch) {
  return torch.family.is(TorchFamily::lightweight) || torch.family.is(TorchFamily::source);
}

std::vector<PythonPackage> select_packages(const std::vector<PythonPackage>& packages, WantedPackage wanted) {
  std::vector<PythonPackage> selected;
  std::copy_if(packages.begin(), packages.end(), std::back_inserter(selected), wanted);
  return selected;
}

std::vector<Evidence> package_evidence(const std::vector<PythonPackage>& packages) {
  std::vector<Evidence> evidence;
  for (const PythonPackage& package : packages) {
    evidence.push_back({package.dist_info, package.name + " " + package.version.value_or("of unknown version")});
  }
  return evidence;
}

std::string names_of(const std::vector<PythonPackage>& packages, std::string_view separator) {
  std::vector<std::string> names;
  for (const PythonPackage& package : packages) {
    if (std::find(names.begin(), names.end(), package.name) == names.end()) names.push_back(package.name);
  }
  return join(names, separator);
}

std::vector<PythonPackage> tritons_in_use(const Facts& facts) {
  const TorchInstall& torch = torch_in_use(facts);
  std::vector<PythonPackage> tritons = select_packages(
      *environment_in_use(facts).packages, [](const PythonPackage& package) { return owns_triton(package.name); });
  // A development install lies in a tree of its own; its Triton is in the site of its record.
  if (!torch.editable.is(true)) {
    std::erase_if(tritons,
                  [&](const PythonPackage& package) { return parent_folder(package.dist_info) != parent_folder(torch.folder); });
  }
  return tritons;
}

std::string environment_label(const PythonEnvironment& environment) {
  return environment.prefix + how_found(environment);
}

std::string pip_install(const PythonEnvironment& environment) {
  if (environment.kind.is(PythonKind::uv)) return "uv pip install --python " + interpreter(environment);
  return interpreter(environment) + " -m pip install";
}

std::string pip_uninstall(const PythonEnvironment& environment) {
  if (environment.kind.is(PythonKind::uv)) return "uv pip uninstall --python " + interpreter(environment);
  return interpreter(environment) + " -m pip uninstall -y";
}

bool torch_is_shadowed(const PythonEnvironment& environment) {
  const auto& torch = *environment.torch;
  if (torch.size() < 2) return false;
  const bool outsider = torch.front().site.is(SiteKind::python_path) || torch.front().site.is(SiteKind::user);
  return outsider && std::any_of(torch.begin() + 1, torch.end(), [&](const TorchInstall& other) {
           return other.site.is(SiteKind::own) || other.site.is(SiteKind::base);
         });
}

Remedy unshadow_remedy(const Facts& facts) {
  if (torch_in_use(facts).site.is(SiteKind::python_path)) {
    const Variable* variable = facts.environment.find("PYTHONPATH");
    if (variable != nullptr) return unset_remedy({variable});
    return {"Remove PYTHONPATH from this shell:", {"unset PYTHONPATH"}, {}};
  }
  return {"Keep Python from looking into ~/.local, or uninstall the PyTorch there.",
          {"export PYTHONNOUSERSITE=1"},
          {}};
}

Remedy install_rocm_torch(const CheckInput& input) {
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const std::string name = target_to_serve(input.facts);
  const GfxTarget* target = name.empty() ? nullptr : input.tables.target(name);
  const bool amd_only = target != nullptr && !target->torch_wheel;
  Remedy remedy;
  remedy.text = amd_only ? "Install AMD's build with the code for " + name + ", which PyTorch's own wheels lack"
                         : std::string("Install the ROCm build of PyTorch");
  const std::string packages =
      amd_only ? "'torch[device-" + name + "]' torchvision torchaudio" : "torch torchvision torchaudio";
  const std::string tail = packages + " --index-url " + (amd_only ? amd_index : upstream_index);
  if (environment.kind.is(PythonKind::system)) {
    remedy.text += ", in an environment of its own: the system's Python is managed by the distribution.";
    remedy.commands = {"python3 -m venv ~/rocm-venv", "~/rocm-venv/bin/python3 -m pip install " + tail};
  } else {
    remedy.text += ".";
    const bool uv = environment.kind.is(PythonKind::uv);
    remedy.commands = {pip_install(environment) + (uv ? " --reinstall " : " --force-reinstall ") + tail};
  }
  if (gpu_behind_dxg(input.facts)) remedy.text += " WSL2 needs a build for ROCm 7.2 or newer.";
  return remedy;
}

std::string show_torch_command(const PythonEnvironment& environment) {
  return interpreter(environment) + " -c 'import torch; print(torch.__file__, torch.__version__, torch.version.hip)'";
}

}  // namespace sage
