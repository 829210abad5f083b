#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/bench/result.hpp"
#include "kernels/device/plan.hpp"

namespace sage {

/// What the user asked of a benchmark. Empty lists: the usual ones.
struct BenchWish {
  std::uint32_t batch = 0;  ///< 0: the usual one, like heads
  std::uint32_t heads = 0;
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint32_t> head_dims;
  std::vector<std::string> masks;  ///< "dense", "causal"
  std::vector<std::string> pv;     ///< "f16", "fp8"
  std::uint32_t runs = 0;          ///< 0: as many as half a second takes
};

/// One thing to time: a shape and the type of P and V.
struct BenchCase {
  BenchShape shape;
  device::PvType pv = device::PvType::f16;
};

/// In the order of the table: PV type, head dim, mask, tokens. `fp8`: the GPU has matrix instructions for it.
[[nodiscard]] std::vector<BenchCase> bench_cases(const BenchWish& wish, bool fp8);

/// "sage f16".
[[nodiscard]] std::string contender_of(device::PvType pv);

[[nodiscard]] device::Problem problem_of(const BenchCase& what);

/// "4x32x8192x128 causal f16": how a child is told.
[[nodiscard]] std::string case_text(const BenchCase& what);
[[nodiscard]] Result<BenchCase> case_from_text(std::string_view text);

}  // namespace sage
