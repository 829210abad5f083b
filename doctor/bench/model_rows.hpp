#pragma once

#include <string>

#include "doctor/bench/measure.hpp"
#include "doctor/bench/result.hpp"

namespace sage {

/// What the issue-slot model (kernels/model) gives for a target of AMD's: shares of the peak, and speeds where the
/// machine's facts have units and clock of such a GPU. Error: the model knows nothing of the target.
[[nodiscard]] Result<BenchResult> model_result(const std::string& target, const Facts& facts);

}  // namespace sage
