#include "doctor/checks/wsl_common.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "doctor/checks/wording.hpp"

namespace sage {
namespace {

// Either list may be unknown while the other one tells.
bool no_amd_gpu(const Facts& facts) {
  if (facts.gpus.amd.known() && facts.gpus.amd->empty()) return true;
  const auto& adapters = facts.wsl.adapters;
  return adapters.known() && std::all_of(adapters->begin(), adapters->end(), [](const DxgAdapter& adapter) {
           return adapter.vendor_id.known() && !adapter.vendor_id.is(amd_vendor);
         });
}

}  // namespace

bool gpu_behind_dxg(const Facts& facts) {
  return facts.platform.kind.known() && uses_dxg(*facts.platform.kind);
}

std::optional<Finding> skip_off_wsl(const Facts& facts) {
  if (auto skip = skip_unless_known({{"platform.kind", &facts.platform.kind}})) return skip;
  if (facts.platform.kind.is(PlatformKind::wsl1)) return not_applicable("WSL1 has no /dev/dxg");
  if (!gpu_behind_dxg(facts)) return not_applicable("this is not WSL2");
  return std::nullopt;
}

std::optional<Finding> skip_without_dxg(const Facts& facts) {
  if (auto skip = skip_off_wsl(facts)) return skip;
  const DeviceNode& dxg = facts.devices.dxg;
  if (auto skip = skip_unless_known({{"devices.dxg.present", &dxg.present}, {"devices.dxg.open", &dxg.open}}))
    return skip;
  if (!*dxg.present || !dxg.open->ok()) return not_applicable("/dev/dxg cannot be used");
  if (no_amd_gpu(facts)) return not_applicable("/dev/dxg shows no AMD GPU");
  return std::nullopt;
}

bool is_set(const Facts& facts, std::string_view variable) {
  const auto value = facts.environment.get(variable);
  return value.known() && value->has_value();
}

std::vector<Remedy> remove_variable(const Facts& facts, std::string_view variable) {
  const Variable* entry = facts.environment.find(variable);
  return entry == nullptr ? std::vector<Remedy>() : std::vector<Remedy>{unset_remedy({entry})};
}

void add_variable(const Facts& facts, std::string_view variable, Finding& finding) {
  const Variable* entry = facts.environment.find(variable);
  if (entry == nullptr) return;
  if (entry->value.known() && !entry->value->has_value()) finding.evidence.push_back({entry->name, "not set"});
  for (Evidence& row : variable_evidence(*entry)) finding.evidence.push_back(std::move(row));
}

Remedy update_wsl() {
  return {"Update WSL from PowerShell on Windows; the shutdown ends every running distribution.",
          {"wsl --update", "wsl --shutdown"},
          {Need::windows, Need::wsl_restart}};
}

Remedy pass_dxg_into_container() {
  return {
      "Start the container with the GPU of WSL and the two libraries that belong to it. /dev/kfd, /dev/dri and "
      "groups are not needed; ROCm in the image must be 7.1 or newer.",
      {"docker run -it --device=/dev/dxg -v /usr/lib/wsl/lib/libdxcore.so:/usr/lib/libdxcore.so -v "
       "/opt/rocm/lib/librocdxg.so:/usr/lib/librocdxg.so -e HSA_ENABLE_DXG_DETECTION=1 --ipc=host IMAGE"},
      {Need::container_restart}};
}

}  // namespace sage
