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

namespace {

/// Half of a square for causal, as everybody counts it; without its diagonal's other half.
double pairs(double queries, double keys, bool causal) {
  if (!causal) return queries * keys;
  const double square = std::min(queries, keys);
  return square * square / 2.0 + (queries - square) * keys;
}

double pairs_of(const BenchShape& shape) {
  if (shape.lengths.empty()) return shape.batch * pairs(shape.tokens, shape.kv_tokens, shape.causal);
  double sum = 0.0;
  for (const std::uint32_t length : shape.lengths) sum += pairs(length, length, shape.causal);
  return sum;
}

}  // namespace

double tflops_of(const BenchShape& shape, double milliseconds) {
  if (!std::isfinite(milliseconds) || milliseconds <= 0.0) return not_known;
  const double operations = 4.0 * shape.heads * shape.head_dim * pairs_of(shape);
  return operations / (milliseconds * 1e-3) * 1e-12;
}

}  // namespace sage
