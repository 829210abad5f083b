#include "doctor/checks/wsl_common.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "doctor/checks/wording.hpp"
#include "probes/pci.hpp"

namespace sage {
namespace {

// Either list may be unknown while the other one tells.
bool no_amd_gpu(const Facts& facts) {
  if (facts.gpus.amd.known() && facts.gpus.amd->empty()) return true;
  const auto& adapters = facts.wsl.adapters;
  return adapters.known() && std::all_of(adapters->begin(), adapters->end(), [](const DxgAdapter& adapter) {
           return adapter.vendor_id.known() && !adapter.vendor_id.is(amd_vendor_id);
         });
}

}  // namespace

bool gpu_behind_dxg(const Facts& facts) {
  return facts.platform.kind.known() && uses_dxg(*facts.platform.kind);
}

std::optional<Finding> skip_on_other_machines(const Facts& facts) {
  const auto& kind = facts.platform.kind;
  if (!kind.known() || uses_dxg(*kind) || *kind == PlatformKind::wsl1) return std::nullopt;
  return not_applicable("this is not WSL2");
}

std::optional<Finding> skip_off_wsl(const Facts& facts) {
  if (auto skip = skip_unless_known({{"platform.kind", &facts.platform.kind}})) return skip;
  if (facts.platform.kind.is(PlatformKind::wsl1)) return not_applicable("WSL1 has no /dev/dxg");
  return skip_on_other_machines(facts);
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

std::string verify_gpu_works(const Facts& facts, std::string_view check_id) {
  const auto& roots = facts.rocm.roots;
  if (roots.known() && !roots->empty()) return "rocminfo | grep gfx";
  return "sage-doctor check --only " + std::string(check_id);
}

Remedy restart_wsl(std::string text) {
  return {std::move(text), {"wsl --shutdown"}, {Need::windows, Need::wsl_restart}};
}

Remedy edit_wsl_conf(std::string_view what) {
  return {"Remove " + std::string(what) +
              " from /etc/wsl.conf with the first command; then restart WSL with the second, from PowerShell.",
          {edit_command("/etc/wsl.conf", 1), "wsl --shutdown"},
          {Need::sudo, Need::windows, Need::wsl_restart}};
}

Remedy update_windows_driver() {
  return {"Install the current AMD Adrenalin driver in Windows, restart Windows, then restart WSL from PowerShell.",
          {"wsl --shutdown"},
          {Need::windows, Need::reboot, Need::wsl_restart}};
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
      {"docker run -it --device=/dev/dxg -v " + std::string(windows_libraries) +
       "/libdxcore.so:/usr/lib/libdxcore.so -v "
       "/opt/rocm/lib/librocdxg.so:/usr/lib/librocdxg.so -e HSA_ENABLE_DXG_DETECTION=1 --ipc=host IMAGE"},
      {Need::container_restart}};
}

}  // namespace sage
