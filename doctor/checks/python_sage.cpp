// Attention packages beside a ROCm PyTorch: SageAttention in its three kinds, and what else may be there
// (facts/sage.md 3 to 5, 8; facts/bugs.md B1, B2).

#include <algorithm>
#include <array>
#include <optional>

#include "doctor/build/compile/units.hpp"
#include "doctor/checks/python_common.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"
#include "probes/python_packages.hpp"

namespace sage {
namespace {

constexpr const char* triton_switch = "FLASH_ATTENTION_TRITON_AMD_ENABLE";
constexpr const char* upstream_home = "github.com/thu-ml/SageAttention";
constexpr const char* fixed_branch = "git+https://github.com/thu-ml/SageAttention@sageattention-1";

// ---- python.sageattention

/// The home page of somebody else's version; empty for the original, and when it is unknown.
std::string home_of_fork(const PythonEnvironment& environment) {
  if (!environment.sage.known() || environment.sage->empty()) return "";
  const auto homes = environment.sage->front().home_pages.value_or({});
  const bool original = std::any_of(homes.begin(), homes.end(), [](const std::string& home) {
    return contains_ignoring_case(home, upstream_home);
  });
  return original || homes.empty() ? "" : homes.front();
}

enum class Served { yes, no, unknown };

/// Whether there are kernels of our own for a GPU of this machine.
Served served_by_our_kernels(const Facts& facts) {
  if (!facts.gpus.amd.known()) return Served::unknown;
  Served served = Served::no;
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (!gpu.target.known()) {
      served = Served::unknown;
    } else if (units_of(*gpu.target)) {
      return Served::yes;
    }
  }
  return served;
}

/// Version 1 from its branch, with what is known to go wrong with it on AMD GPUs (facts/sage.md 1a, 2a, 5).
Remedy version_1(const PythonEnvironment& environment, const std::string& options) {
  return {"Version 1 from its branch, where the scores of missing keys are masked. Its limits on AMD GPUs: no masks, head "
          "sizes 64, 96 and 128 only; at 128 its kernels may ask for 72 KiB of LDS where the GPU has 64; with Triton 3.5 "
          "and 3.6 they may not compile on gfx103x and gfx12xx.",
          {pip_install(environment) + options + " --no-deps " + fixed_branch},
          {}};
}

/// What gives attention of this kind here, the best first. `uninstall`: commands before it, may be none.
std::vector<Remedy> what_works(const CheckInput& input, const std::vector<std::string>& uninstall,
                               const std::string& options) {
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const Served served = served_by_our_kernels(input.facts);
  Remedy last = version_1(environment, options);
  last.commands.insert(last.commands.begin(), uninstall.begin(), uninstall.end());
  if (served == Served::no) return {std::move(last)};
  Remedy ours{served == Served::yes ? "The kernels of sage-doctor are for this GPU and take SageAttention's names and arguments."
                                    : "The kernels of sage-doctor, if there are some for this GPU, take SageAttention's names "
                                      "and arguments.",
              uninstall,
              {}};
  ours.commands.emplace_back("sage-doctor build --install");
  ours.commands.push_back(shell_word(environment.executable) + " -m sage_doctor_attention alias");
  return {std::move(ours), std::move(last)};
}

Finding made_for_cuda(const CheckInput& input, const PythonPackage& package, const std::string& version) {
  const PythonEnvironment& environment = environment_in_use(input.facts);
  Finding finding = warn("SageAttention " + version + " is made for CUDA only");
  finding.evidence = package_evidence({package});
  if (environment.sage_binaries.known()) {
    finding.evidence.push_back({parent_folder(package.dist_info) + "/sageattention",
                                environment.sage_binaries->empty() ? "no compiled modules"
                                                                   : join(*environment.sage_binaries, " ")});
  }
  finding.cause = "Its kernels from version 2 on are CUDA code, built by nvcc alone. CUDA_HOME does not change that.";
  finding.confidence = Confidence::likely;
  finding.remedies = what_works(input, {pip_uninstall(environment) + " " + package.name}, "");
  finding.verify = "sage-doctor check --only python.sageattention";
  return finding;
}

Finding counts_phantom_keys(const CheckInput& input, const std::string& version) {
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const SageInstall& sage = environment.sage->front();
  Finding finding = warn("SageAttention " + version +
                         " gives wrong results when the number of keys is no multiple of 64");
  finding.evidence = {{sage.folder + "/attn_qk_int8_per_block.py", "loads K under k_mask, never masks the scores"}};
  finding.cause = "The last tile counts keys that are not there: the output is too small, by 1 % at 1000 keys and by "
                  "30 % at 77, the length of many text prompts. Cosine similarity does not show it.";
  finding.remedies = what_works(input, {}, " --force-reinstall");
  finding.verify = "grep -c 'tl.where(k_mask' " + shell_word(sage.folder + "/attn_qk_int8_per_block.py");
  return finding;
}

/// Whether Triton's compiler is known to fall over the loads of version 1, which are pipelined in three and four stages
/// (facts/bugs.md B4, B5): seen with 3.5 and 3.6 on these families.
bool pipeline_may_fail(const std::string& triton, const std::string& target) {
  const bool family = target.starts_with("gfx103") || target.starts_with("gfx12");
  return family && version_below(triton, "3.7") && !version_below(triton, "3.5");
}

/// From reports, so it only tells; a skip where it can't be known.
std::optional<Finding> compiler_may_fail(const CheckInput& input, const std::string& version) {
  const std::vector<PythonPackage> tritons = tritons_in_use(input.facts);
  if (tritons.empty()) return std::nullopt;
  if (auto skip = skip_unless_known({{"gpus.amd", &input.facts.gpus.amd},
                                     {"python.environments.packages.version", &tritons.front().version}})) {
    return skip;
  }
  const std::string& triton = *tritons.front().version;
  for (const Gpu& gpu : *input.facts.gpus.amd) {
    if (auto skip = skip_unless_known({{"gpus.amd.target", &gpu.target}})) return skip;
    if (!pipeline_may_fail(triton, *gpu.target)) continue;
    Finding finding = info("SageAttention " + version + " may not compile with Triton " + triton + " on " + *gpu.target);
    finding.evidence = package_evidence({tritons.front()});
    finding.cause = "Reports of \"'tt.load' op operation destroyed but still has uses\": Triton's compiler, not "
                    "SageAttention, falls over kernels with several stages. Programs like ComfyUI then go back to "
                    "PyTorch's attention with one line in their log. That another Triton kernel works proves nothing.";
    finding.confidence = Confidence::possible;
    finding.remedies = {{"If that line appears: a PyTorch with a newer Triton, or a SageAttention whose kernels have "
                         "num_stages=1.",
                         {},
                         {}}};
    if (units_of(*gpu.target)) {
      finding.remedies.insert(finding.remedies.begin(), {"Or the kernels of sage-doctor, which need no Triton.",
                                                         {"sage-doctor build --install"},
                                                         {}});
    }
    return finding;
  }
  return std::nullopt;
}

// ---- python.sage-sources

Finding judge_sources(const CheckInput& input, const SageSources& sources) {
  if (auto skip = skip_unless_known({{"python.sage_sources.version", &sources.version},
                                     {"python.sage_sources.knows_hip", &sources.knows_hip}})) {
    return *skip;
  }
  const std::string label = "SageAttention" + (sources.version->empty() ? std::string() : " " + *sources.version);
  if (*sources.knows_hip) return info(label + " in " + sources.folder + ": its build knows ROCm");
  if (!parse_version(*sources.version)) return info(label + " in " + sources.folder + ": its version is not known");
  if (version_below(*sources.version, "2")) return pass(label + " in " + sources.folder + " has nothing to compile");
  Finding finding = warn(label + " in " + sources.folder + " can't be built for ROCm");
  finding.evidence = {{sources.folder + "/setup.py", "version " + *sources.version + ", no word of ROCm"}};
  finding.cause = "Its build knows nvcc alone. It stops with \"Cannot find CUDA_HOME\"; with CUDA_HOME set it stops later, or "
                  "makes code for NVIDIA GPUs.";
  finding.remedies = what_works(input, {}, "");
  finding.verify = "sage-doctor check --only python.sage-sources";
  return finding;
}

// ---- python.attention-packages

constexpr auto attention_names = std::to_array<std::string_view>({"flash-attn", "aiter", "amd-aiter", "xformers"});

std::string in_words(const std::vector<PythonPackage>& packages) {
  std::vector<std::string> names;
  for (const PythonPackage& package : packages) names.push_back(package.name + " " + package.version.value_or("?"));
  return join(names, ", ");
}

bool installed(const std::vector<PythonPackage>& packages, std::string_view name) {
  return std::any_of(packages.begin(), packages.end(), [&](const PythonPackage& one) { return one.name == name; });
}

Finding switch_misspelt(const Variable& variable) {
  Finding finding = warn(std::string(triton_switch) + "=\"" + **variable.value + "\" has no effect: flash-attn compares "
                         "it with TRUE, letter by letter");
  finding.evidence = variable_evidence(variable);
  finding.cause = "With any other text flash-attn looks for its compiled kernels, which a Triton build does not have.";
  finding.remedies = {{"Set it to TRUE, for building and for running." + set_where(variable),
                       {std::string("export ") + triton_switch + "=TRUE"},
                       {}}};
  finding.verify = std::string("echo \"$") + triton_switch + "\"    # TRUE";
  return finding;
}

}  // namespace

std::vector<Finding> check_sageattention(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  if (auto skip = skip_unless_known({{"python.environments.packages", &environment.packages}})) return {*skip};
  const auto& packages = *environment.packages;
  const auto package = std::find_if(packages.begin(), packages.end(),
                                    [](const PythonPackage& one) { return names_sageattention(one.name); });
  if (package == packages.end()) return {not_applicable("SageAttention is not installed")};
  if (package->name != "sageattention") return {info(package->name + " is a version of SageAttention of its own")};
  if (auto skip = skip_unless_known({{"python.environments.packages.version", &package->version}})) return {*skip};
  const std::string& version = *package->version;
  if (!parse_version(version)) return {make_finding(Status::skip, "unknown: \"" + version + "\" is no version")};
  if (const std::string home = home_of_fork(environment); !home.empty()) {
    return {info("SageAttention " + version + " is not the original but comes from " + home)};
  }
  if (!version_below(version, "2")) {
    if (contains_ignoring_case(version, "rocm") || contains_ignoring_case(version, "hip")) {
      return {info("SageAttention " + version + " is a fork for ROCm")};
    }
    return {made_for_cuda(input, *package, version)};
  }
  if (auto skip = skip_unless_known({{"python.environments.sage", &environment.sage}})) return {*skip};
  if (environment.sage->empty()) {
    return {make_finding(Status::skip, "unknown: the folder sageattention is not beside its record")};
  }
  const SageInstall& sage = environment.sage->front();
  if (auto skip = skip_unless_known({{"python.environments.sage.home_pages", &sage.home_pages},
                                     {"python.environments.sage.masks_tail", &sage.masks_tail}})) {
    return {*skip};
  }
  if (!*sage.masks_tail) return {counts_phantom_keys(input, version)};
  if (auto finding = compiler_may_fail(input, version)) return {*std::move(finding)};
  return {pass("SageAttention " + version + " is made of Triton kernels that mask the last keys")};
}

std::vector<Finding> check_sage_sources(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  if (auto skip = skip_unless_known({{"python.sage_sources", &input.facts.python.sage_sources}})) return {*skip};
  std::vector<Finding> findings;
  for (const SageSources& sources : *input.facts.python.sage_sources) {
    findings.push_back(judge_sources(input, sources));
    findings.back().subject = sources.folder;
  }
  if (findings.empty()) return {not_applicable("no sources of SageAttention are in the working folder")};
  return findings;
}

std::vector<Finding> check_attention_packages(const CheckInput& input) {
  if (auto skip = skip_without_rocm_torch(input.facts)) return {*skip};
  const PythonEnvironment& environment = environment_in_use(input.facts);
  const Variable* variable = input.facts.environment.find(triton_switch);
  const Fact<std::optional<std::string>> value = input.facts.environment.get(triton_switch);
  if (auto skip = skip_unless_known({{"python.environments.packages", &environment.packages},
                                     {"python.comfyui", &input.facts.python.comfyui},
                                     {"environment.FLASH_ATTENTION_TRITON_AMD_ENABLE", &value}})) {
    return {*skip};
  }
  const std::vector<PythonPackage> found = select_packages(*environment.packages, [](const PythonPackage& package) {
    return std::find(attention_names.begin(), attention_names.end(), package.name) != attention_names.end();
  });
  if (installed(found, "flash-attn") && variable != nullptr && value->has_value() && !(*value)->empty() &&
      **value != "TRUE") {
    return {switch_misspelt(*variable)};
  }
  const auto& comfyui = *input.facts.python.comfyui;
  std::string text = found.empty() ? "" : "beside PyTorch: " + in_words(found);
  if (!comfyui.empty()) {
    if (!text.empty()) text += "; ";
    text += "ComfyUI in " + comfyui.front() +
            ": SageAttention is used with --use-sage-attention only, and its log tells when it went back to PyTorch's";
  }
  if (text.empty()) return {not_applicable("no other attention package is installed")};
  Finding finding = info(text);
  finding.evidence = package_evidence(found);
  return {finding};
}

}  // namespace sage
