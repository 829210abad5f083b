#include "doctor/checks/accepted_targets.hpp"

namespace sage {

std::vector<std::string> accepted_targets(const CheckInput& input, const Gpu& gpu) {
  std::vector<std::string> accepted = {*gpu.target};
  const GfxTarget* target = input.tables.target(*gpu.target);
  if (target != nullptr && !target->covered_by_generic.empty()) accepted.push_back(target->covered_by_generic);
  const auto value = input.facts.environment.get("HSA_OVERRIDE_GFX_VERSION");
  if (!value.known() || !value->has_value()) return accepted;
  if (const auto claimed = target_of_override(**value)) accepted.push_back(*claimed);
  return accepted;
}

}  // namespace sage
