#include "doctor/build/advice.hpp"

#include <algorithm>

#include "doctor/checks/toolchain_rows.hpp"
#include "doctor/toolchain/choice.hpp"

namespace sage {
namespace {

/// The compiler did run and can't do it: no memory, disk or time was missing.
bool for_want_of_a_compiler(const TargetOutcome& target) {
  if (target.compiler == nullptr) return true;
  const auto& units = target.result.units;
  return std::any_of(units.begin(), units.end(), [](const UnitResult& unit) {
    return unit.failure && unit.state != UnitState::ready &&
           (unit.failure->id == "target-unknown" || unit.failure->id == "device-library-missing" || unit.failure->id == "linker-missing");
  });
}

}  // namespace

std::vector<Remedy> build_advice(const BuildOutcome& outcome, const Facts& facts, const GfxTables& tables) {
  std::vector<Remedy> advice;
  for (const TargetOutcome& target : outcome.targets) {
    if (target.result.complete() || target.result.interrupted_by != 0 || !for_want_of_a_compiler(target)) continue;
    const Toolchain* other = best_toolchain(facts, tables, target.target, BuildPurpose::kernels);
    if (other != nullptr && other != target.compiler) {
      advice.push_back({compiler_label(*other) + " can build for " + target.target + ".",
                        {"sage-doctor build --target " + target.target + " --toolchain " + other->path},
                        {}});
      continue;
    }
    for (Remedy& remedy : compiler_remedies({facts, tables}, target.target)) {
      if (std::find(advice.begin(), advice.end(), remedy) == advice.end()) advice.push_back(std::move(remedy));
    }
  }
  return advice;
}

}  // namespace sage
