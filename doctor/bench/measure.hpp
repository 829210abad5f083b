#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/bench/result.hpp"
#include "doctor/bench/shapes.hpp"
#include "doctor/bench/trial.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// Where to measure, and with what.
struct BenchPlace {
  std::string library;                ///< a libsage_attention
  std::string kernels;                ///< folder of code objects
  std::vector<std::string> runtimes;  ///< driver libraries, the best first
  std::string work;                   ///< an existing folder for the processes' answers
};

/// Told what is measured next, as `done` of `all` steps. Called five times a second too.
using BenchProgress = std::function<void(const std::string& what, std::size_t done, std::size_t all)>;

/// "gfx90a" of "gfx90a:sramecc+:xnack-".
[[nodiscard]] std::string processor_of(const std::string& target);

/// Units and clock of an AMD GPU, which its driver library does not tell in a form that can be relied on, from KFD's
/// facts.
void add_facts_of_gpu(const Facts& facts, BenchDevice& device);

/// The share of what the device's matrix units could do; unknown where their number, clock or rate is not known.
[[nodiscard]] double peak_share(const BenchDevice& device, device::PvType pv, double tflops);

/// How many times as long as a copy that reads and writes `bytes`; unknown where that is.
[[nodiscard]] double copy_ratio(const BenchDevice& device, std::uint64_t bytes, double milliseconds);

/// The rows of one trial: the kernel's, the prologue's, the call's. Wrong numbers have a reason in place of a speed.
[[nodiscard]] std::vector<BenchRow> rows_of(const BenchTrial& trial, const BenchCase& what, const BenchDevice& device);

/// A note of a result that holds only what was measured before.
inline constexpr std::string_view bench_interrupted = "interrupted: the rest was not measured";

/// Error: bench_no_gpu, EINTR, or nothing to measure.
[[nodiscard]] Result<BenchResult> measure(const BenchPlace& place, const BenchWish& wish, const Facts& facts,
                                          const BenchProgress& progress);

/// A comparison with the limits as a reason: "wrong numbers: relative L1 0.2 (allowed 0.012), ...".
[[nodiscard]] std::string wrong_numbers(const BenchAccuracy& accuracy);

}  // namespace sage
