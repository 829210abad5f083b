#pragma once

#include <vector>

#include "doctor/bench/result.hpp"

namespace sage {

/// Of the times of single runs. The median of an even number is the mean of the two in the middle. Without times:
/// unknown.
[[nodiscard]] BenchSpread spread_of(std::vector<double> times);

/// 4 H D times the pairs of a query and a key that it sees: B N^2 of a plain shape, half of that for causal. Unknown
/// for a time that is none.
[[nodiscard]] double tflops_of(const BenchShape& shape, double milliseconds);

}  // namespace sage
