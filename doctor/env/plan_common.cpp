#include <algorithm>
#include <array>
#include <utility>

#include "doctor/checks/visibility.hpp"
#include "doctor/env/plan_parts.hpp"
#include "probes/base/text.hpp"

namespace sage {

bool is_system_folder(std::string_view folder) {
  constexpr auto parents = std::to_array<std::string_view>({"", "/usr", "/usr/local"});
  constexpr auto names = std::to_array<std::string_view>({"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libexec"});
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  for (const std::string_view parent : parents) {
    if (folder == (parent.empty() ? "/" : parent)) return true;
    if (!folder.starts_with(parent)) continue;
    const std::string_view rest = folder.substr(parent.size());
    if (std::find(names.begin(), names.end(), rest) != names.end()) return true;
    // Debian's folders by architecture: /usr/lib/x86_64-linux-gnu.
    const bool below_lib = rest.starts_with("/lib/") && rest.find('/', 5) == std::string_view::npos;
    if (below_lib && contains(rest, "-linux-")) return true;
  }
  return false;
}

std::vector<std::string> build_targets(const Facts& facts) {
  if (!facts.gpus.amd.known()) return {};
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  std::vector<const Gpu*> chosen;
  if (const Result<Visibility> seen = visible_gpus(facts); seen.ok() && !seen->hip.empty()) {
    for (const std::size_t index : seen->hip) chosen.push_back(&gpus[index]);
  } else {
    for (const Gpu& gpu : gpus) chosen.push_back(&gpu);
  }
  const bool discrete =
      std::any_of(chosen.begin(), chosen.end(), [](const Gpu* gpu) { return gpu->kind.is(GpuKind::discrete); });
  std::vector<std::string> targets;
  for (const Gpu* gpu : chosen) {
    if (discrete && gpu->kind.is(GpuKind::integrated)) continue;
    if (!gpu->target.known()) return {};
    if (std::find(targets.begin(), targets.end(), *gpu->target) == targets.end()) targets.push_back(*gpu->target);
  }
  return targets;
}

const TorchInstall* rocm_torch(const Facts& facts) {
  if (!facts.python.environments.known() || facts.python.environments->empty()) return nullptr;
  const PythonEnvironment& environment = facts.python.environments->front();
  if (!environment.torch.known() || environment.torch->empty()) return nullptr;
  const TorchInstall& torch = environment.torch->front();
  return torch.flavour.is(TorchFlavour::rocm) ? &torch : nullptr;
}

EnvSetting set_to(std::string variable, std::string value, std::string why) {
  return {std::move(variable), SettingKind::set, {std::move(value)}, std::move(why), std::nullopt};
}

EnvSetting put_in_front(std::string variable, std::vector<std::string> folders, std::string why) {
  return {std::move(variable), SettingKind::prepend, std::move(folders), std::move(why), std::nullopt};
}

}  // namespace sage
