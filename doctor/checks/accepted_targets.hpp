#pragma once

#include <string>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

/// The targets whose code the loader takes for a GPU: its own, the generic one that covers it, and the one that a valid
/// HSA_OVERRIDE_GFX_VERSION claims, since that is what the loader compares code with. The GPU's target must be known.
[[nodiscard]] std::vector<std::string> accepted_targets(const CheckInput& input, const Gpu& gpu);

}  // namespace sage
