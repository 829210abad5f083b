#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "doctor/bench/plot.hpp"
#include "doctor/bench/result_json.hpp"
#include "doctor/bench/result_text.hpp"
#include "doctor/bench/trial.hpp"
#include "kernels/runtime/tuning.hpp"

// A choice of kernels, and results of benchmarks: whatever is accepted can be written, read again and shown.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  namespace runtime = sage::runtime;
  runtime::Tuning tuning;
  if (runtime::read_tuning_text(text, tuning).empty()) {
    if (runtime::tuning_text(tuning) != text) std::abort();
    runtime::ChosenTiles chosen{};
    const bool fits = runtime::apply_tuning(tuning, sage::device::Family::gfx12, tuning.target, tuning.gpu, chosen).empty();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] == nullptr) continue;
      if (!fits || chosen[i]->dp != sage::device::class_at(i).dp) std::abort();
    }
  }
  const auto result = sage::bench_from_text(text);
  if (result.ok()) {
    if (!sage::bench_from_text(sage::bench_json(*result, sage::Redaction())).ok()) std::abort();
    if (sage::bench_text(*result, 80).empty() || sage::bench_html(*result).empty()) std::abort();
  }
  const sage::BenchRun run = sage::bench_run_from_text(text);
  if (sage::bench_run_from_text(sage::bench_run_text(run)).trials.size() != run.trials.size()) std::abort();
  return 0;
}
