#include "doctor/bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace sage {

BenchSpread spread_of(std::vector<double> times) {
  std::erase_if(times, [](double time) { return !std::isfinite(time); });
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  const double median = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2.0;
  return {times.front(), median, times.back(), static_cast<std::uint32_t>(times.size())};
}

double tflops_of(const BenchShape& shape, double milliseconds) {
  if (!std::isfinite(milliseconds) || milliseconds <= 0.0) return not_known;
  const double operations =
      (shape.causal ? 2.0 : 4.0) * shape.batch * shape.heads * shape.tokens * shape.tokens * shape.head_dim;
  return operations / (milliseconds * 1e-3) * 1e-12;
}

}  // namespace sage
