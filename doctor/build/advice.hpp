#pragma once

#include <string>
#include <vector>

#include "doctor/build/build.hpp"
#include "doctor/checks/finding.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// For every target that could not be built: another compiler of this machine that can, else how to get one on this
/// distribution. Empty where the failure is not the compiler's.
[[nodiscard]] std::vector<Remedy> build_advice(const BuildOutcome& outcome, const Facts& facts, const GfxTables& tables);

}  // namespace sage
