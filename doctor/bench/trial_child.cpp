// The process that times: it loads somebody else's driver library, and it may be killed.

#include <cmath>
#include <cstdio>
#include <map>

#include "doctor/bench/statistics.hpp"
#include "doctor/bench/trial.hpp"
#include "doctor/build/install/files.hpp"
#include "kernels/trial/timed.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr int bad_usage = 2;

struct Asked {
  std::map<std::string, std::string> options;
  std::vector<BenchCase> cases;
  bool good = true;
};

Asked read_arguments(const std::vector<std::string>& arguments) {
  Asked asked;
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] != "--case") {
      asked.options[arguments[i]] = arguments[i + 1];
      continue;
    }
    const Result<BenchCase> one = case_from_text(arguments[i + 1]);
    asked.good = asked.good && one.ok();
    if (one) asked.cases.push_back(*one);
  }
  for (const char* name : {"--library", "--kernels", "--runtime", "--runs", "--parts", "--output"}) {
    asked.good = asked.good && asked.options.count(name) == 1;
  }
  return asked;
}

BenchTrial time_case(const trial::Gpu& gpu, const std::string& folder, const BenchCase& what, int runs,
                     bool kernel_only) {
  BenchTrial told;
  told.what = case_text(what);
  try {
    trial::TimedRequest request;
    request.problem = problem_of(what);
    request.runs = runs;
    request.kernel_only = kernel_only;
    const trial::Timed timed = trial::time_problem(gpu, folder, request);
    told.kernel = timed.kernel;
    told.call_ms = timed.call_ms;
    told.kernel_ms = timed.kernel_ms;
    told.prologue_ms = timed.prologue_ms;
    told.prologue_bytes = static_cast<std::uint64_t>(timed.prologue_bytes);
    told.note = timed.note;
    told.flushed_bytes = timed.flushed_bytes;
    const trial::Errors& e = timed.errors;
    told.accuracy = {e.relative_l1,        e.rmse,
                     e.worst_row,          timed.gate.relative_l1,
                     timed.gate.worst_row, static_cast<std::uint32_t>(e.rows),
                     timed.accurate};
  } catch (const std::exception& problem) {  // memory of the host may be short, too
    told.problem = problem.what();
  }
  return told;
}

/// What the cases are measured with is worth more than this: without it they have no ratio.
void time_copy(const trial::Gpu& gpu, BenchRun& run) {
  try {
    const trial::TimedCopy copy = trial::time_copy(gpu);
    run.copied_bytes = copy.bytes;
    if (const BenchSpread time = spread_of(copy.milliseconds); time.median > 0.0)
      run.device.copy_gbps = 2.0 * static_cast<double>(copy.bytes) / (time.median * 1e6);
    else
      run.no_copy = "there is no memory for a large copy";
  } catch (const std::runtime_error& problem) {
    run.no_copy = problem.what();
  }
}

BenchRun run_cases(const Asked& asked) {
  BenchRun run;
  try {
    const std::string& folder = asked.options.at("--kernels");
    const trial::Gpu gpu(trial::load_attention_library(asked.options.at("--library")), folder,
                         asked.options.at("--runtime"));
    const trial::GpuFacts facts = trial::gpu_facts(gpu);
    run.device = {gpu.name(),
                  gpu.target(),
                  gpu.runtime_path(),
                  static_cast<std::uint32_t>(facts.driver_version),
                  static_cast<std::uint32_t>(facts.units),
                  static_cast<std::uint32_t>(facts.mhz),
                  not_known};
    run.fp8 = trial::device_of(gpu).has_fp8;
    run.tuning = gpu.tuning();
    const int runs = static_cast<int>(parse_number(asked.options.at("--runs")).value_or(0));
    run.state = BenchState::ran;
    if (asked.cases.empty()) time_copy(gpu, run);
    for (const BenchCase& one : asked.cases) {
      run.trials.push_back(time_case(gpu, folder, one, runs, asked.options.at("--parts") == "kernel"));
      // After a launch that failed the driver refuses everything.
      if (!run.trials.back().problem.empty()) break;
    }
  } catch (const trial::NoGpu& none) {
    run.state = BenchState::no_gpu;
    run.reason = none.what();
  } catch (const std::exception& problem) {
    run.state = BenchState::failed;
    run.reason = problem.what();
  }
  return run;
}

}  // namespace

std::optional<int> run_bench_child(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "bench-gpu") return std::nullopt;
  const Asked asked = read_arguments(arguments);
  if (!asked.good) {
    std::fputs("'sage-doctor internal' is how 'sage-doctor bench' starts itself; it is not for use by hand\n", stderr);
    return bad_usage;
  }
  return replace_file(asked.options.at("--output"), bench_run_text(run_cases(asked))) ? 1 : 0;
}

}  // namespace sage
