#include "doctor/checks/visibility.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "doctor/checks/wsl_common.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// What a mask does with a GPU that it names twice.
enum class Repeated { ends_list, is_skipped };

Error unknown_fact(const std::string& name, const FactBase& fact) {
  return {fact.why_unknown().number, name + " (" + fact.why_unknown().text + ")"};
}

std::string place(std::size_t gpu, std::string_view field) {
  return "gpus.amd[" + std::to_string(gpu) + "]." + std::string(field);
}

// The thunk leaves a GPU out without a word when its render node is not there (facts/gfx.md 3).
Result<bool> has_render_node(const Facts& facts, std::size_t i) {
  const Fact<std::string>& path = (*facts.gpus.amd)[i].render_node;
  if (!path.known()) return unknown_fact(place(i, "render_node"), path);
  if (!facts.devices.dri.known()) return unknown_fact("devices.dri", facts.devices.dri);
  for (const DeviceNode& node : *facts.devices.dri) {
    if (node.path != *path) continue;
    if (!node.present.known()) return unknown_fact("devices.dri " + node.path, node.present);
    return *node.present;
  }
  return false;
}

Result<std::vector<std::size_t>> enumerated(const Facts& facts) {
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  std::vector<std::size_t> order;
  if (gpu_behind_dxg(facts)) {
    for (std::size_t i = 0; i < gpus.size(); ++i) order.push_back(i);
    return order;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!gpus[i].in_kfd.known()) return unknown_fact(place(i, "in_kfd"), gpus[i].in_kfd);
    if (!*gpus[i].in_kfd) continue;
    if (!gpus[i].kfd_readable.known()) return unknown_fact(place(i, "kfd_readable"), gpus[i].kfd_readable);
    if (!*gpus[i].kfd_readable) continue;
    const auto openable = has_render_node(facts, i);
    if (!openable) return openable.error();
    if (!*openable) continue;
    if (!gpus[i].kfd_index.known()) return unknown_fact(place(i, "kfd_index"), gpus[i].kfd_index);
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return *gpus[a].kfd_index < *gpus[b].kfd_index; });
  return order;
}

// The one GPU of `list` that an entry of a mask names: by position, or by the beginning of its UUID when that is
// unique. nullopt: the entry names none.
Result<std::optional<std::size_t>> named_gpu(const std::vector<Gpu>& gpus, const std::vector<std::size_t>& list,
                                             std::string_view entry) {
  using Found = std::optional<std::size_t>;
  if (const auto position = parse_number(entry)) {
    return *position < list.size() ? Found(list[*position]) : Found();
  }
  if (entry.substr(0, 4) != "GPU-" || entry.size() == 4) return Found();
  Found found;
  for (const std::size_t gpu : list) {
    if (!gpus[gpu].uuid.known()) return unknown_fact(place(gpu, "uuid"), gpus[gpu].uuid);
    if (gpus[gpu].uuid->substr(0, entry.size()) != entry) continue;
    if (found) return Found();
    found = gpu;
  }
  return found;
}

Result<std::vector<std::size_t>> masked(const std::vector<Gpu>& gpus, const std::vector<std::size_t>& list,
                                        Repeated repeated, MaskEffect& effect) {
  std::vector<std::size_t> kept;
  for (const std::string_view part : split(effect.value, ',')) {
    const std::string_view entry = trim(part);
    const auto gpu = named_gpu(gpus, list, entry);
    if (!gpu) return gpu.error();
    const bool known_already = *gpu && std::find(kept.begin(), kept.end(), **gpu) != kept.end();
    if (known_already && repeated == Repeated::is_skipped) continue;
    if (!*gpu || known_already) {
      effect.cut_at = std::string(entry);
      break;
    }
    kept.push_back(**gpu);
  }
  effect.before = list.size();
  effect.after = kept.size();
  return kept;
}

}  // namespace

Result<Visibility> visible_gpus(const Facts& facts) {
  if (!facts.platform.kind.known()) return unknown_fact("platform.kind", facts.platform.kind);
  if (!facts.gpus.amd.known()) return unknown_fact("gpus.amd", facts.gpus.amd);
  auto order = enumerated(facts);
  if (!order) return order.error();

  Visibility seen;
  seen.unmasked = *order;
  seen.runtime = *order;
  const auto apply = [&](std::string_view variable, const std::vector<std::size_t>& list,
                         Repeated repeated) -> Result<std::vector<std::size_t>> {
    const auto value = facts.environment.get(variable);
    if (!value.known()) return unknown_fact(std::string(variable), value);
    // An empty value hides every GPU from the runtime but means nothing to HIP.
    if (!*value || ((*value)->empty() && repeated == Repeated::is_skipped)) return list;
    MaskEffect effect;
    effect.variable = variable;
    effect.value = **value;
    auto kept = masked(*facts.gpus.amd, list, repeated, effect);
    if (kept) seen.masks.push_back(std::move(effect));
    return kept;
  };

  auto runtime = apply("ROCR_VISIBLE_DEVICES", seen.runtime, Repeated::ends_list);
  if (!runtime) return runtime.error();
  seen.runtime = std::move(*runtime);

  const std::size_t masks_before_hip = seen.masks.size();
  auto hip = apply("HIP_VISIBLE_DEVICES", seen.runtime, Repeated::is_skipped);
  if (hip && seen.masks.size() == masks_before_hip) {
    hip = apply("CUDA_VISIBLE_DEVICES", seen.runtime, Repeated::is_skipped);
  }
  if (!hip) return hip.error();
  seen.hip = std::move(*hip);
  return seen;
}

}  // namespace sage
