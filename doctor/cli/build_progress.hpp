#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "doctor/build/build.hpp"

namespace sage {

/// On a terminal one line with a bar, the kernel at work, the time gone by and about the time left; else, or with
/// `verbose`, a line for each kernel. On stderr.
[[nodiscard]] std::unique_ptr<BuildProgress> make_build_progress(bool verbose);

}  // namespace sage
