// What --deep proved. These checks say what happened when a thing was run; that its files are right or wrong is said by
// the checks of the other topics, and where one of those failed in a way that explains all, these wait for it.

#include "doctor/checks/proof_common.hpp"
#include "doctor/checks/registry.hpp"

namespace sage {

std::optional<Finding> skip_unless_deep(const Facts& facts) {
  if (!facts.deep.is(false)) return std::nullopt;
  return make_finding(Status::skip, "not tried; sage-doctor check --deep does");
}

std::string end_and_words(const Fact<std::string>& outcome, const Fact<std::string>& message) {
  const std::string end = outcome.is("ok") ? "" : outcome.value_or("");
  const std::string words = message.value_or("");
  return end.empty() || words.empty() ? end + words : end + ": " + words;
}

bool deep_without_gpu(const Facts& facts) { return facts.deep.is(true) && facts.gpus.amd.known() && facts.gpus.amd->empty(); }

bool has_amd_gpu(const Facts& facts) { return facts.gpus.amd.known() && !facts.gpus.amd->empty(); }

std::vector<Check> proof_checks() {
  // A failure in one of these is why no runtime sees the GPU.
  const std::vector<std::string_view> way_to_the_gpu = {
      "gpu.present",         "driver.module-loaded", "device.kfd-present", "device.kfd-access", "device.render-access",
      "env.visible-devices", "env.override-empty",   "wsl.dxg-access",     "wsl.runtime"};
  std::vector<std::string_view> way_to_torch = way_to_the_gpu;
  way_to_torch.insert(way_to_torch.end(), {"python.environment-broken", "python.torch-flavour"});
  return {
      {"proof.compile", "Compilers build for the GPU", Topic::proof, {}, check_proof_compile},
      {"proof.runtime", "HIP runtimes load and see the GPU", Topic::proof, way_to_the_gpu, check_proof_runtime,
       runtimes_without_gpu},
      {"proof.python", "PyTorch computes on the GPU", Topic::proof, way_to_torch, check_proof_python,
       pythons_without_gpu},
  };
}

}  // namespace sage
