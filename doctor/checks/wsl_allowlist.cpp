// librocdxg takes only GPUs whose PCI id it knows, and those that the user adds in a dids.conf. Facts:
// facts/wsl.md 2.5.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/wording.hpp"
#include "doctor/checks/wsl_common.hpp"
#include "doctor/checks/wsl_rows.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// "gfx1102" -> "11,0,2", the form of dids.conf; empty when the name is not of that kind.
std::string target_numbers(std::string_view target) {
  if (target.size() < 6 || target.substr(0, 3) != "gfx") return {};
  const auto major = parse_number(target.substr(3, target.size() - 5));
  const auto minor = parse_number(target.substr(target.size() - 2, 1), 16);
  const auto stepping = parse_number(target.substr(target.size() - 1), 16);
  if (!major || !minor || !stepping) return {};
  return std::to_string(*major) + "," + std::to_string(*minor) + "," + std::to_string(*stepping);
}

// The librocdxg that the loader finds: LD_LIBRARY_PATH is searched before its cache. Else the first one.
const RocdxgCopy* bridge_in_use(const Fact<std::vector<RocdxgCopy>>& copies) {
  if (!copies.known() || copies->empty()) return nullptr;
  for (const auto found : {&RocdxgCopy::in_library_path, &RocdxgCopy::in_loader_cache}) {
    for (const RocdxgCopy& copy : *copies) {
      if ((copy.*found).is(true)) return &copy;
    }
  }
  return &copies->front();
}

// The library looks for its dids.conf here (facts/wsl.md 2.5): <its folder>/../share/rocdxg.
std::string dids_folder(const Facts& facts) {
  const RocdxgCopy* bridge = bridge_in_use(facts.rocm.rocdxg);
  return (bridge == nullptr ? "/opt/rocm" : parent_folder(parent_folder(bridge->path))) + "/share/rocdxg";
}

Remedy add_to_dids_conf(const Facts& facts, const std::string& line) {
  const std::string folder = dids_folder(facts);
  const bool own = in_home_folder(folder);
  const std::string sudo = own ? "" : "sudo ";
  return {
      "As an experiment only, librocdxg 1.2.1 and newer takes further ids from a file. With RDNA2 cards the GPU "
      "then appears but computing is reported to hang.",
      {sudo + "mkdir -p " + shell_word(folder),
       "echo '" + line + "' | " + sudo + "tee -a " + shell_word(folder + "/dids.conf")},
      own ? std::vector<Need>() : std::vector<Need>{Need::sudo}};
}

Finding outside_allowlist(const Facts& facts, const Gpu& gpu) {
  const std::string id = "1002:" + hex(*gpu.device_id, 4);
  Finding finding =
      warn(gpu.name.value_or("the GPU") + " (" + id + ") is not in the list of GPUs that ROCm accepts under WSL");
  finding.evidence = {{"/dev/dxg adapter", id},
                      {"device ids accepted by librocdxg", "not among them"},
                      {"dids.conf", "does not name it"}};
  const auto override_value = facts.environment.get("HSA_OVERRIDE_GFX_VERSION");
  if (override_value.known() && override_value->has_value()) {
    finding.evidence.push_back({"HSA_OVERRIDE_GFX_VERSION", "set; it does not add a GPU under WSL"});
  }
  finding.cause =
      "Under WSL the bridge librocdxg takes only GPUs of a fixed list (most of RDNA3 and RDNA4). For another "
      "one it says \"No WDDM adapters found\". HSA_OVERRIDE_GFX_VERSION does not help: the Windows driver decides.";
  finding.confidence = Confidence::likely;
  finding.remedies = {{"Use this GPU with ROCm on native Windows or on bare-metal Linux.", {}, {}}};
  const std::string numbers = gpu.target.known() ? target_numbers(*gpu.target) : "";
  if (!numbers.empty()) {
    finding.remedies.push_back(add_to_dids_conf(facts, "0x" + hex(*gpu.device_id, 4) + "," + numbers));
  }
  finding.verify = verify_gpu_works(facts, "wsl.gpu-allowlist");
  return finding;
}

/// One computes with the graphics card then.
bool beside_an_accepted_card(const CheckInput& input, const Gpu& gpu) {
  const auto& all = *input.facts.gpus.amd;
  return gpu.kind.is(GpuKind::integrated) && std::any_of(all.begin(), all.end(), [&](const Gpu& other) {
           return other.kind.is(GpuKind::discrete) && other.device_id.known() &&
                  input.tables.dxg_allowed(*other.device_id);
         });
}

Finding allowlisted(const CheckInput& input, const Gpu& gpu, const std::string& place) {
  const Facts& facts = input.facts;
  const std::string id_place = place + ".device_id";
  if (auto skip = skip_unless_known({{id_place, &gpu.device_id}})) return *skip;
  const std::string id = "1002:" + hex(*gpu.device_id, 4);
  if (input.tables.dxg_allowed(*gpu.device_id)) return pass("ROCm accepts this GPU (" + id + ") under WSL");
  if (auto skip = skip_unless_known({{"wsl.allowed_devices", &facts.wsl.allowed_devices}})) return *skip;
  for (const AllowedDevice& allowed : *facts.wsl.allowed_devices) {
    if (allowed.device_id != *gpu.device_id) continue;
    Finding finding = info(id + " is not a GPU that ROCm accepts under WSL, but " + allowed.file +
                           " adds it: that is an experiment, and computing may hang");
    finding.evidence.push_back({allowed.file, "0x" + hex(allowed.device_id, 4) + " as " + allowed.target});
    return finding;
  }
  if (beside_an_accepted_card(input, gpu)) {
    return info(gpu.name.value_or("the integrated GPU") + " (" + id +
                ") is not a GPU that ROCm accepts under WSL; the graphics card is");
  }
  return outside_allowlist(facts, gpu);
}

}  // namespace

std::vector<Finding> check_gpu_allowlist(const CheckInput& input) {
  const Facts& facts = input.facts;
  if (auto skip = skip_without_dxg(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"gpus.amd", &facts.gpus.amd}})) return {*skip};
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < facts.gpus.amd->size(); ++i) {
    const Gpu& gpu = (*facts.gpus.amd)[i];
    findings.push_back(allowlisted(input, gpu, "gpus.amd[" + std::to_string(i) + "]"));
    findings.back().subject = gpu.id;
  }
  return findings;
}

}  // namespace sage
