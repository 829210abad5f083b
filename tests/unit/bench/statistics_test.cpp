#include "doctor/bench/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace sage;

TEST_CASE("bench: a spread is of all runs, in any order") {
  const BenchSpread odd = spread_of({3.0, 1.0, 2.0});
  CHECK(odd.min == 1.0);
  CHECK(odd.median == 2.0);
  CHECK(odd.max == 3.0);
  CHECK(odd.runs == 3);
  CHECK(spread_of({4.0, 1.0, 2.0, 3.0}).median == 2.5);
  CHECK(spread_of({5.0}).median == 5.0);
}

TEST_CASE("bench: without times there is no spread, and what is no number is no time") {
  CHECK(std::isnan(spread_of({}).median));
  CHECK(spread_of({}).runs == 0);
  const BenchSpread some = spread_of({NAN, 2.0, INFINITY});
  CHECK(some.runs == 1);
  CHECK(some.max == 2.0);
}

TEST_CASE("bench: operations of attention over time, half of them for causal") {
  const BenchShape shape = plain_shape(4, 32, 8192, 128, false);
  // 4 * 4 * 32 * 8192^2 * 128 = 4.398e12
  CHECK(tflops_of(shape, 10.0) == doctest::Approx(439.8).epsilon(0.001));
  BenchShape causal = shape;
  causal.causal = true;
  CHECK(tflops_of(causal, 10.0) == doctest::Approx(tflops_of(shape, 10.0) / 2));
  // Larger than 32 bits hold.
  CHECK(tflops_of(plain_shape(1024, 128, 131072, 256, false), 1000.0) == doctest::Approx(2305843.0).epsilon(0.001));
  BenchShape cross = shape;
  cross.tokens = 4096;
  cross.kv_tokens = 16384;
  cross.kv_heads = 8;
  CHECK(tflops_of(cross, 10.0) == doctest::Approx(tflops_of(shape, 10.0)));
  // Queries beyond the last key see all keys, keys beyond the last query nobody.
  causal.kv_tokens = 4096;
  CHECK(tflops_of(causal, 10.0) == doctest::Approx(tflops_of(shape, 10.0) * 0.375));
  causal.tokens = 4096;
  causal.kv_tokens = 8192;
  CHECK(tflops_of(causal, 10.0) == doctest::Approx(tflops_of(shape, 10.0) * 0.125));
  BenchShape packed = shape;
  packed.lengths = {16384, 8192, 8192};
  CHECK(tflops_of(packed, 10.0) == doctest::Approx(tflops_of(shape, 10.0) * 6 / 4));
  packed.causal = true;
  CHECK(tflops_of(packed, 10.0) == doctest::Approx(tflops_of(shape, 10.0) * 3 / 4));
  CHECK(std::isnan(tflops_of(shape, 0.0)));
  CHECK(std::isnan(tflops_of(shape, NAN)));
}
