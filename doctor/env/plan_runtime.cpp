#include <algorithm>
#include <utility>

#include "doctor/checks/wsl_common.hpp"
#include "doctor/checks/wsl_copies.hpp"
#include "doctor/env/plan_parts.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::string_view hip_file = "libamdhip64.so";

void add_folder(std::vector<std::string>& folders, const std::string& folder) {
  const bool known = std::find(folders.begin(), folders.end(), folder) != folders.end();
  // A colon would cut the folder in two.
  if (!known && !is_system_folder(folder) && !contains(folder, ":")) folders.push_back(folder);
}

// ---- WSL (facts/wsl.md 2.4, 2.11, W3, W6, W7)

/// The folder of a bridge that a runtime wants and that the loader would not find; empty: all is found, or none is
/// there.
std::string missed_bridge(const Facts& facts) {
  if (!facts.rocm.rocdxg.known()) return "";
  for (const Copy& copy : classified(*facts.rocm.hsa)) {
    if (!loads_bridge(copy)) continue;
    std::string missed;
    bool found = false;
    for (const RocdxgCopy& bridge : *facts.rocm.rocdxg) {
      const BridgeSearch result = search_for_bridge(*copy.hsa, bridge);
      found = found || result != BridgeSearch::not_found;
      if (missed.empty() && bridge.exports_thunk.is(true)) missed = parent_folder(bridge.path);
    }
    if (!found && !missed.empty()) return missed;
  }
  return "";
}

void add_wsl(const Facts& facts, std::vector<EnvSetting>& settings, std::vector<std::string>& folders) {
  if (!facts.rocm.hsa.known() || !gpu_behind_dxg(facts)) return;
  const std::vector<Copy> copies = classified(*facts.rocm.hsa);
  const auto wanting = std::find_if(copies.begin(), copies.end(), wants_detection);
  if (wanting != copies.end()) {
    // From 7.13 on it is on by itself (facts/wsl.md 2.1), and the least is set.
    settings.push_back(set_to("HSA_ENABLE_DXG_DETECTION", "1",
                              release(*wanting->hsa) + ": runtimes 7.1 to 7.12 look for the GPU of Windows only when " +
                                  "this is 1; from 7.13 on they do by themselves."));
  }
  if (std::none_of(copies.begin(), copies.end(), capable)) return;
  if (const std::string folder = missed_bridge(facts); !folder.empty()) add_folder(folders, folder);
  const std::string dxcore = facts.wsl.dxcore_path.value_or("");
  if (!dxcore.empty() && facts.wsl.dxcore_findable.is(false)) add_folder(folders, parent_folder(dxcore));
}

// ---- what the loader would miss, or take from elsewhere

const LoadPrediction* prediction(const Facts& facts, LoadScenario scenario) {
  if (!facts.libraries.predictions.known()) return nullptr;
  const auto& all = *facts.libraries.predictions;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const LoadPrediction& one) { return one.scenario.is(scenario); });
  return found == all.end() ? nullptr : &*found;
}

const LibraryCopy* copy_of(const Facts& facts, const std::string& path) {
  for (const LibraryCopy& copy : *facts.libraries.copies) {
    const std::vector<std::string> others = copy.other_paths.value_or({});
    if (copy.path == path || std::find(others.begin(), others.end(), path) != others.end()) return &copy;
  }
  return nullptr;
}

/// Folders of ROCm trees that have what `import torch` needs and nothing leads to: a lightweight wheel beside a ROCm
/// whose folder is not in the loader's cache.
void add_missing(const Facts& facts, std::vector<std::string>& folders) {
  const LoadPrediction* torch = prediction(facts, LoadScenario::torch);
  if (torch == nullptr || !torch->missing.known() || !facts.libraries.copies.known()) return;
  for (const std::string& soname : *torch->missing) {
    for (const LibraryCopy& copy : *facts.libraries.copies) {
      if (!copy.soname.is(soname) || !copy.origin.is(LibraryOrigin::rocm_root)) continue;
      add_folder(folders, parent_folder(copy.path));
      break;
    }
  }
}

/// The HIP runtimes that a process of this kind ends with, in the order of loading.
std::vector<LoadedCopy> hips_of(const LoadPrediction* scenario) {
  if (scenario == nullptr) return {};
  std::vector<LoadedCopy> copies = scenario->copies.value_or({});
  std::erase_if(copies, [](const LoadedCopy& copy) { return !copy.library.is(RuntimeLibrary::amdhip64); });
  return copies;
}

/// Triton looks for libamdhip64 by itself and may take another copy than PyTorch (facts/wheels.md 2.7). The variable
/// has to name a file called libamdhip64.so.
void add_triton(const Facts& facts, std::vector<EnvSetting>& settings) {
  const std::vector<LoadedCopy> torch = hips_of(prediction(facts, LoadScenario::torch));
  const std::vector<LoadedCopy> triton = hips_of(prediction(facts, LoadScenario::triton));
  if (torch.empty() || !facts.libraries.copies.known()) return;
  const LibraryCopy* wanted = copy_of(facts, torch.front().path);
  if (wanted == nullptr) return;
  const auto taken = std::find_if(triton.begin(), triton.end(),
                                  [&](const LoadedCopy& copy) { return copy_of(facts, copy.path) != wanted; });
  if (taken == triton.end()) return;
  std::vector<std::string> names = {wanted->path};
  for (const std::string& other : wanted->other_paths.value_or({})) names.push_back(other);
  const auto name =
      std::find_if(names.begin(), names.end(), [](const std::string& path) { return path.ends_with(hip_file); });
  if (name == names.end()) return;
  settings.push_back(set_to("TRITON_LIBHIP_PATH", *name,
                            "PyTorch's HIP runtime; as things are Triton takes " + taken->path + "."));
}

}  // namespace

std::vector<EnvSetting> runtime_settings(const Facts& facts) {
  std::vector<EnvSetting> settings;
  std::vector<std::string> folders;
  add_wsl(facts, settings, folders);
  add_missing(facts, folders);
  if (!folders.empty()) {
    settings.push_back(put_in_front("LD_LIBRARY_PATH", std::move(folders),
                                    "Libraries that programs need and that the loader would not find."));
  }
  add_triton(facts, settings);
  return settings;
}

bool has_runtime(const Facts& facts) {
  if (rocm_torch(facts) != nullptr) return true;
  if (facts.rocm.hsa.known() && !facts.rocm.hsa->empty()) return true;
  const std::vector<LibraryCopy> copies = facts.libraries.copies.value_or({});
  return std::any_of(copies.begin(), copies.end(),
                     [](const LibraryCopy& copy) { return copy.library.is(RuntimeLibrary::amdhip64); });
}

}  // namespace sage
