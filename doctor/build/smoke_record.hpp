#pragma once

#include <string>
#include <string_view>

#include "doctor/build/smoke.hpp"

namespace sage {

// How a process of the smoke test tells what came of it: one JSON object. A number that is none is null.

[[nodiscard]] std::string smoke_run_text(const SmokeRun& run);

/// Any text; what does not fit makes a failed run with the reason.
[[nodiscard]] SmokeRun smoke_run_from_text(std::string_view text);

}  // namespace sage
