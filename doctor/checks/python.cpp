#include <algorithm>

#include "doctor/checks/python_common.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {

std::vector<Finding> check_torch_present(const CheckInput& input) {
  if (auto skip = skip_without_environment(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.torch", &environment.torch}})) return {*skip};
  if (!environment.torch->empty()) {
    const TorchInstall& torch = torch_in_use(input.facts);
    return {pass("PyTorch " + torch.version.value_or("of unknown version") + " in " + environment_label(environment))};
  }
  const auto& all = *input.facts.python.environments;
  const auto other = std::find_if(all.begin() + 1, all.end(), [](const PythonEnvironment& one) {
    return one.torch.known() && !one.torch->empty();
  });
  const std::string observed = "no PyTorch in " + environment_label(environment);
  if (other == all.end()) return {info(observed)};

  Finding finding = warn(observed + ", but in " + environment_label(*other));
  finding.evidence = {{other->torch->front().folder, other->torch->front().version.value_or("version unknown")}};
  finding.cause = "Programs started from this shell use an environment that has no PyTorch.";
  finding.remedies = {{"Leave this environment and use the other one's Python:", {shell_word(other->executable)}, {}},
                      install_rocm_torch(input)};
  finding.verify = show_torch_command(environment);
  return {finding};
}

std::vector<Finding> check_torch_shadowed(const CheckInput& input) {
  if (auto skip = skip_without_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  for (const TorchInstall& torch : *environment.torch) {
    if (auto skip = skip_unless_known({{"python.environments.torch.site", &torch.site}})) return {*skip};
  }
  const TorchInstall& first = torch_in_use(input.facts);
  if (!torch_is_shadowed(environment)) return {pass("import torch takes " + first.folder)};

  Finding finding = warn("the PyTorch of " + std::string(first.site.is(SiteKind::user) ? "~/.local" : "PYTHONPATH") +
                         " hides the one of " + environment.prefix);
  for (const TorchInstall& torch : *environment.torch) {
    finding.evidence.push_back({torch.folder, torch.version.value_or("version unknown")});
  }
  finding.cause = first.site.is(SiteKind::user)
                      ? "Outside virtual environments Python searches the user's own packages first."
                      : "Python searches the folders of PYTHONPATH before those of the environment.";
  finding.remedies = {unshadow_remedy(input.facts)};
  finding.verify = show_torch_command(environment);
  return {finding};
}

namespace {

/// The user named something that is no Python.
Finding named_in_vain(const PythonEnvironment& environment) {
  Finding finding = warn("there is no Python at " + environment.prefix);
  finding.evidence = {{environment.prefix,
                       environment.sites.known() ? "no interpreter" : environment.sites.why_unknown().text}};
  finding.cause = "--python takes an interpreter, such as ~/venv/bin/python3, or the folder of an environment.";
  finding.remedies = {{"Name one that exists, or leave the option out.", {"sage-doctor check"}, {}}};
  finding.verify = "ls -l " + shell_word(environment.prefix);
  return finding;
}

}  // namespace

std::vector<Finding> check_environment_broken(const CheckInput& input) {
  if (auto skip = skip_without_environment(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.interpreter_there", &environment.interpreter_there}})) {
    return {*skip};
  }
  if (*environment.interpreter_there) return {pass(environment.executable + " is there")};
  if (environment.found.is(PythonFound::named) && environment.executable.empty()) return {named_in_vain(environment)};

  Finding finding = warn("the interpreter of " + environment_label(environment) + " is gone");
  finding.evidence = {{environment.executable.empty() ? environment.prefix : environment.executable,
                       environment.executable.empty() ? "does not exist" : "leads nowhere"}};
  if (environment.home.known() && *environment.home) {
    finding.evidence.push_back({environment.prefix + "/pyvenv.cfg", "home = " + **environment.home});
  }
  finding.cause = "The Python it was made with was removed or replaced by another version.";
  finding.confidence = Confidence::likely;
  finding.remedies = {{"Make the environment anew, then install its packages again.",
                       {"python3 -m venv --clear " + shell_word(environment.prefix)},
                       {}}};
  finding.verify = shell_word(environment.prefix + "/bin/python3") + " --version";
  return {finding};
}

std::vector<Check> python_checks() {
  const auto row = [](std::string_view id, std::string_view title, std::vector<std::string_view> depends,
                      CheckFunction run) {
    return Check{id, title, Topic::python, std::move(depends), run};
  };
  return {
      row("python.environment-broken", "The interpreter is there", {"gpu.present"}, check_environment_broken),
      row("python.torch-present", "PyTorch is installed", {"gpu.present"}, check_torch_present),
      row("python.torch-shadowed", "No other PyTorch in the way", {"gpu.present"}, check_torch_shadowed),
      row("python.torch-flavour", "PyTorch is a ROCm build", {"gpu.present"}, check_torch_flavour),
      row("python.torch-health", "PyTorch is installed cleanly", {"python.torch-flavour"}, check_torch_health),
      row("python.torch-family", "PyTorch is of one kind", {"python.torch-flavour"}, check_torch_family),
      row("python.torch-runpath", "PyTorch keeps its own libraries", {"python.torch-flavour"}, check_torch_runpath),
      row("python.system-rocm", "The system's ROCm fits PyTorch", {"python.torch-flavour"}, check_system_rocm),
      row("python.import-hang", "PyTorch can be imported without a GPU device", {"python.torch-flavour"},
          check_import_hang),
      row("python.amdsmi", "PyTorch can count the GPUs", {"python.torch-flavour"}, check_amdsmi),
      row("python.torch-target", "PyTorch has code for the GPU", {"python.torch-flavour"}, check_torch_target),
      row("python.torch-kernels", "PyTorch has fast kernels for the GPU", {"python.torch-target"},
          check_torch_kernels),
      row("python.triton-conflict", "One Triton, the right one", {"python.torch-flavour"}, check_triton_conflict),
      row("python.triton-libhip", "Triton finds the HIP runtime", {"python.torch-flavour"}, check_triton_libhip),
      row("python.triton-parts", "Triton has what it compiles with", {"python.torch-flavour"}, check_triton_parts),
      row("python.rocm-sdk-versions", "The ROCm SDK wheels fit together", {"python.torch-flavour"},
          check_rocm_sdk_versions),
      row("python.rocm-sdk-files", "The ROCm SDK wheels are whole", {"python.rocm-sdk-versions"},
          check_rocm_sdk_files),
      row("python.sageattention", "SageAttention can run on ROCm", {"python.torch-flavour"}, check_sageattention),
      row("python.sage-sources", "SageAttention sources can be built", {"python.torch-flavour"}, check_sage_sources),
      row("python.attention-packages", "Other attention packages", {"python.torch-flavour"},
          check_attention_packages),
  };
}

}  // namespace sage
