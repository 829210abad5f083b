#pragma once

#include <cmath>

#include "doctor/bench/result.hpp"
#include "doctor/bench/statistics.hpp"

namespace sage::test {

inline BenchRow sample_row(const std::string& contender, BenchPart part, std::uint32_t tokens, double milliseconds) {
  BenchRow row;
  row.contender = contender;
  row.part = part;
  row.shape = plain_shape(4, 32, tokens, 128, false);
  row.kernel = "sage_attention_d128_F16_LONG";
  row.milliseconds = spread_of({milliseconds * 0.97, milliseconds, milliseconds * 1.06});
  row.tflops = tflops_of(row.shape, milliseconds);
  row.peak_share = 0.5;
  row.accuracy = BenchAccuracy{0.0101, 4e-4, 0.018, 0.012, 0.05, 72, true};
  return row;
}

inline BenchRow refused_row(std::uint32_t tokens) {
  BenchRow row = sample_row("sage fp8", BenchPart::call, tokens, 1.0);
  row.milliseconds.reset();
  row.tflops = row.peak_share = not_known;
  row.accuracy->relative_l1 = 0.2;
  row.accuracy->passed = false;
  row.problem = "wrong numbers: relative L1 0.2 (allowed 0.042), worst row 0.4 (allowed 0.12)";
  return row;
}

inline BenchResult sample_result() {
  BenchResult result;
  result.tool = "sage-doctor 0.1.0";
  result.time = "2026-12-01T03:00:00Z";
  result.device = {"AMD Radeon RX 9070 XT", "gfx1201", "/opt/rocm/lib/libamdhip64.so.7", 70226015, 64, 2970, 560.0};
  result.method = {"driver events", 3, 512u << 20, 512u << 20};
  for (const std::uint32_t tokens : {1024u, 2048u, 4096u, 8192u}) {
    const double quadratic = 1e-7 * tokens * tokens;
    result.rows.push_back(sample_row("sage f16", BenchPart::kernel, tokens, quadratic + 0.02));
    result.rows.push_back(sample_row("sage f16", BenchPart::call, tokens, quadratic + 0.1));
    BenchRow prologue = sample_row("sage f16", BenchPart::prologue, tokens, 1e-5 * tokens);
    prologue.tflops = prologue.peak_share = not_known;
    prologue.bytes = std::uint64_t{4096} * tokens;
    prologue.copy_ratio = 1.37;
    result.rows.push_back(prologue);
    result.rows.push_back(sample_row("sdpa flash", BenchPart::call, tokens, 1.6 * quadratic + 0.02));
  }
  return result;
}

}  // namespace sage::test
