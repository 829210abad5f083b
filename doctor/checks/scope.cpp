#include "doctor/checks/scope.hpp"

#include <algorithm>

namespace sage {

bool uses_dxg(PlatformKind kind) {
  return kind == PlatformKind::wsl2 || kind == PlatformKind::gpu_pv_guest;
}

bool in_container(const Facts& facts) {
  return facts.platform.container.known() && *facts.platform.container != ContainerKind::none;
}

std::optional<Finding> skip_without_gpu(const Facts& facts) {
  if (auto skip = skip_unless_known({{"platform.kind", &facts.platform.kind}, {"gpus.amd", &facts.gpus.amd}})) {
    return skip;
  }
  if (facts.gpus.amd->empty()) return not_applicable("there is no AMD GPU");
  return std::nullopt;
}

std::optional<Finding> skip_without_amdgpu(const Facts& facts) {
  if (auto skip = skip_unless_known({{"platform.kind", &facts.platform.kind}})) return skip;
  if (uses_dxg(*facts.platform.kind)) {
    return not_applicable("WSL2 has no amdgpu driver and never has /dev/kfd");
  }
  if (*facts.platform.kind == PlatformKind::wsl1) return not_applicable("WSL1 has no kernel drivers of its own");
  return skip_without_gpu(facts);
}

std::vector<Finding> judge_each_gpu(const CheckInput& input, JudgeGpu judge) {
  if (auto skip = skip_without_amdgpu(input.facts)) return {*skip};
  std::vector<Finding> findings;
  for (const Gpu& gpu : *input.facts.gpus.amd) {
    findings.push_back(judge(input, gpu));
    findings.back().subject = gpu.id;
  }
  return findings;
}

bool another_gpu_works(const Facts& facts, const Gpu& gpu) {
  const std::vector<Gpu>& all = *facts.gpus.amd;
  return std::any_of(all.begin(), all.end(), [&](const Gpu& other) {
    return other.id != gpu.id && other.driver.is("amdgpu") && other.in_kfd.is(true);
  });
}

}  // namespace sage
