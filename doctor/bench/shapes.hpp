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
  std::vector<std::string> masks;   ///< "dense", "causal"
  std::vector<std::string> pv;      ///< "f16", "fp8"
  std::vector<std::string> shapes;  ///< "plain", "gqa", "tail", "cross"
  std::uint32_t runs = 0;           ///< 0: as many as half a second takes
};

/// One thing to time: a shape and the type of P and V.
struct BenchCase {
  BenchShape shape;
  device::PvType pv = device::PvType::f16;
  BenchForm form = BenchForm::plain;
  std::uint32_t plain_tokens = 0;  ///< of the plain shape that it is like

  [[nodiscard]] bool is_plain_of(const BenchCase& other) const;
};

/// In the order of the table: PV type, head dim, mask, tokens, form. `fp8`: the GPU has matrix instructions for it. A
/// form that is no other shape for some length (a tail of one token), or not the same work (cross, causal), is left
/// out.
[[nodiscard]] std::vector<BenchCase> bench_cases(const BenchWish& wish, bool fp8);

/// "sage f16".
[[nodiscard]] std::string contender_of(device::PvType pv);

[[nodiscard]] device::Problem problem_of(const BenchCase& what);

/// "4x32x8192x128 causal f16", "4x32/8x4096:16384x128 dense fp8" with heads and tokens of K and V: how a child is told.
[[nodiscard]] std::string case_text(const BenchCase& what);
[[nodiscard]] Result<BenchCase> case_from_text(std::string_view text);

}  // namespace sage
