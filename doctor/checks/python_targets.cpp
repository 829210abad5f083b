// Has the PyTorch in use code for the GPUs of this machine? Without code of its own or of its math libraries nothing
// runs; without that of hipBLASLt and AOTriton everything runs, more slowly (facts/wheels.md P6; facts/bugs.md B20, B34).

#include <algorithm>
#include <array>

#include "doctor/checks/accepted_targets.hpp"
#include "doctor/checks/python_common.hpp"
#include "doctor/checks/scope.hpp"
#include "doctor/checks/target_coverage.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// ---- python.torch-target

bool lacks(const CodePart& part, const std::vector<std::string>& targets) {
  return !part.unknown && !any_covers(part.listed, targets);
}

/// A discrete GPU beside this one has all it needs.
bool another_is_served(const CheckInput& input, const std::vector<CodePart>& parts) {
  const auto& all = *input.facts.gpus.amd;
  return std::any_of(all.begin(), all.end(), [&](const Gpu& other) {
    if (!other.kind.is(GpuKind::discrete) || !other.target.known()) return false;
    const auto accepted = accepted_targets(input, other);
    return std::none_of(parts.begin(), parts.end(), [&](const CodePart& part) { return lacks(part, accepted); });
  });
}

/// The package with the missing code, of the build that is there.
Remedy add_device_package(const CheckInput& input, const std::string& target) {
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const std::string version = torch_in_use(input.facts).version.value_or("");
  const std::string wanted = "torch[device-" + target + "]" + (version.empty() ? "" : "==" + version);
  return {"Install the part of this build for " + target + ", with --index-url and the index that PyTorch came from.",
          {pip_install(environment) + " " + shell_word(wanted)},
          {}};
}

Finding lacks_target(const CheckInput& input, const Gpu& gpu, const std::vector<CodePart>& parts,
                     const CodePart& missing) {
  const std::string observed = "PyTorch has no code for " + *gpu.target + ", the target of " + gpu_label(gpu);
  const bool beside_the_point = gpu.kind.is(GpuKind::integrated) && another_is_served(input, parts);
  Finding finding = beside_the_point ? info(observed) : fail(observed);
  finding.evidence = {{missing.source, missing.listed.empty() ? "no code for any GPU" : join(missing.listed, " ")}};
  if (missing.split_by_target) {
    finding.cause = "This build is split by GPU, and the package with the code for this one is not installed. The "
                    "runtime loads and every kernel fails.";
    finding.remedies = {add_device_package(input, *gpu.target)};
  } else {
    finding.cause = "Each build carries code for a list of GPUs. Without it programs end with \"invalid device "
                    "function\" or \"no kernel image is available\".";
    finding.remedies = {install_rocm_torch(input)};
  }
  finding.verify = show_torch_command(environment_in_use(input.facts));
  return finding;
}

Finding judge_target(const CheckInput& input, const Gpu& gpu) {
  if (auto skip = skip_unless_known({{"gpus.amd.target", &gpu.target}})) return *skip;
  const auto override_value = input.facts.environment.get("HSA_OVERRIDE_GFX_VERSION");
  if (auto skip = skip_unless_known({{"environment.HSA_OVERRIDE_GFX_VERSION", &override_value}})) return *skip;
  const auto accepted = accepted_targets(input, gpu);
  const std::vector<CodePart> parts = code_parts(input.facts);
  std::optional<Finding> unknown;
  const CodePart* covering = nullptr;
  for (const CodePart& part : parts) {
    if (any_covers(part.listed, accepted)) {
      covering = &part;
    } else if (part.unknown) {
      unknown = part.unknown;
    } else {
      return lacks_target(input, gpu, parts, part);
    }
  }
  if (covering == nullptr) return *unknown;
  if (unknown) {
    return info(covering->source + " has code for " + *gpu.target + "; the rest is " + unknown->observed);
  }
  return pass("PyTorch has code for " + *gpu.target);
}

// ---- python.torch-kernels

/// What AOTriton is built for (facts/sage.md 9). Other GPUs lack it in every build.
constexpr auto aotriton_targets =
    std::to_array<std::string_view>({"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1102", "gfx1103",
                                     "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201", "gfx1250"});

constexpr const char* aotriton_switch = "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL";

/// "gfx11xx" of the folder "amd-gfx11xx".
std::vector<std::string> image_targets(const std::vector<std::string>& images) {
  std::vector<std::string> targets;
  for (const std::string& image : images) {
    const std::size_t gfx = image.find("gfx");
    if (gfx != std::string::npos) targets.push_back(image.substr(gfx));
  }
  return targets;
}

bool switched_on(const std::optional<std::string>& value) {
  return value && !value->empty() && *value != "0";
}

Finding no_attention_kernels(const CheckInput& input, const Gpu& gpu, const std::vector<std::string>& images) {
  const bool others_have = std::find(aotriton_targets.begin(), aotriton_targets.end(), *gpu.target) !=
                           aotriton_targets.end();
  const std::string observed = "PyTorch's fast attention (AOTriton) has no kernels for " + *gpu.target;
  Finding finding = others_have ? warn(observed) : info(observed + ", in no build");
  finding.evidence = {{torch_in_use(input.facts).folder + "/lib/aotriton.images", join(images, " ")}};
  finding.cause = "scaled_dot_product_attention falls back to the plain method, which is slower and takes much more "
                  "memory on long sequences.";
  if (others_have) {
    finding.confidence = Confidence::likely;
    finding.remedies = {install_rocm_torch(input)};
    finding.verify = show_torch_command(environment_in_use(input.facts));
  }
  return finding;
}

/// Seen with PyTorch 2.11 on gfx1200 (facts/sage.md 8), so it only tells.
Finding attention_switched_off(const Gpu& gpu) {
  Finding finding = info("PyTorch may keep its fast attention off on " + *gpu.target + ": " + aotriton_switch +
                         " is not set");
  finding.evidence = {{aotriton_switch, "not set"}};
  finding.cause = "Builds that count this GPU as experimental use the plain method without a word, several times slower "
                  "on long sequences. ComfyUI sets the variable itself.";
  finding.confidence = Confidence::possible;
  finding.remedies = {{"Set it before the program starts.", {std::string("export ") + aotriton_switch + "=1"}, {}}};
  return finding;
}

Finding judge_kernels(const CheckInput& input, const Gpu& gpu) {
  const TorchInstall& torch = torch_in_use(input.facts);
  const auto value = input.facts.environment.get(aotriton_switch);
  const auto override_value = input.facts.environment.get("HSA_OVERRIDE_GFX_VERSION");
  if (auto skip = skip_unless_known({{"gpus.amd.target", &gpu.target},
                                     {"python.environments.torch.aotriton_images", &torch.aotriton_images},
                                     {"python.environments.torch.hipblaslt_targets", &torch.hipblaslt_targets},
                                     {"environment.TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", &value},
                                     {"environment.HSA_OVERRIDE_GFX_VERSION", &override_value}})) {
    return *skip;
  }
  if (torch.aotriton_images->empty()) return not_applicable("this PyTorch brings no AOTriton kernels");
  const auto accepted = accepted_targets(input, gpu);
  if (!any_covers(image_targets(*torch.aotriton_images), accepted)) {
    return no_attention_kernels(input, gpu, *torch.aotriton_images);
  }
  if (gpu.target->starts_with("gfx12") && !switched_on(*value)) return attention_switched_off(gpu);
  if (!torch.hipblaslt_targets->empty() && !any_covers(*torch.hipblaslt_targets, accepted)) {
    Finding finding = info("hipBLASLt has no kernels for " + *gpu.target + "; matrix products use rocBLAS");
    finding.evidence = {{"hipblaslt/library", join(*torch.hipblaslt_targets, " ")}};
    return finding;
  }
  return pass("PyTorch has attention kernels for " + *gpu.target);
}

std::vector<Finding> for_each_gpu(const CheckInput& input, JudgeGpu judge) {
  std::vector<Finding> findings;
  for (const Gpu& gpu : *input.facts.gpus.amd) {
    Finding finding = judge(input, gpu);
    finding.subject = gpu.id;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

std::vector<Finding> check_torch_target(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const TorchInstall& torch = torch_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.torch.family", &torch.family}})) return {*skip};
  if (needs_system_rocm(torch)) return {not_applicable("this PyTorch takes its libraries from the system's ROCm")};
  return for_each_gpu(input, judge_target);
}

std::vector<Finding> check_torch_kernels(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  return for_each_gpu(input, judge_kernels);
}

}  // namespace sage
