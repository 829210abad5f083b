#pragma once

#include <cstddef>
#include <string>

#include "doctor/bench/result.hpp"

namespace sage {

/// For people, in `width` columns.
[[nodiscard]] std::string bench_text(const BenchResult& result, std::size_t width);

}  // namespace sage
