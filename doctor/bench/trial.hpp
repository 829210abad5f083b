#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/bench/result.hpp"
#include "doctor/bench/shapes.hpp"
#include "doctor/build/compile/jobs.hpp"

// Timing happens in a process of its own: a HIP library may abort or hang, and so may a kernel that was never run
// before.

namespace sage {

/// One case, as the process that timed it tells.
struct BenchTrial {
  std::string what;  ///< case_text()
  std::string kernel;
  std::vector<double> call_ms;
  std::vector<double> kernel_ms;
  std::vector<double> prologue_ms;
  std::uint64_t prologue_bytes = 0;
  std::string note;     ///< why kernel and prologue were not timed alone
  std::string problem;  ///< why nothing was timed; empty: it was
  BenchAccuracy accuracy;
  std::uint64_t flushed_bytes = 0;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("what", &BenchTrial::what);
    visit("kernel", &BenchTrial::kernel);
    visit("call_ms", &BenchTrial::call_ms);
    visit("kernel_ms", &BenchTrial::kernel_ms);
    visit("prologue_ms", &BenchTrial::prologue_ms);
    visit("prologue_bytes", &BenchTrial::prologue_bytes);
    visit("note", &BenchTrial::note);
    visit("problem", &BenchTrial::problem);
    visit("accuracy", &BenchTrial::accuracy);
    visit("flushed_bytes", &BenchTrial::flushed_bytes);
  }
};

enum class BenchState { ran, no_gpu, failed };

template <>
inline constexpr auto enum_names<BenchState> = std::to_array<EnumName<BenchState>>({
    {BenchState::ran, "ran"},
    {BenchState::no_gpu, "no-gpu"},
    {BenchState::failed, "failed"},
});

/// What one process did: opened the GPU and timed some cases; a copy where there were none.
struct BenchRun {
  BenchState state = BenchState::failed;
  std::string reason;  ///< of no_gpu and failed
  BenchDevice device;
  bool fp8 = false;
  std::string tuning;  ///< sage_context_tuning()
  std::uint64_t copied_bytes = 0;
  std::string no_copy;  ///< why a copy was not timed
  std::vector<BenchTrial> trials;

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("state", &BenchRun::state);
    visit("reason", &BenchRun::reason);
    visit("device", &BenchRun::device);
    visit("fp8", &BenchRun::fp8);
    visit("tuning", &BenchRun::tuning);
    visit("copied_bytes", &BenchRun::copied_bytes);
    visit("no_copy", &BenchRun::no_copy);
    visit("trials", &BenchRun::trials);
  }
};

[[nodiscard]] std::string bench_run_text(const BenchRun& run);

/// Any text; what does not fit makes a failed run with the reason.
[[nodiscard]] BenchRun bench_run_from_text(std::string_view text);

/// What a process is asked.
struct BenchRequest {
  std::string library;  ///< a libsage_attention
  std::string kernels;  ///< folder of code objects
  std::string runtime;  ///< driver library
  std::vector<BenchCase> cases;
  std::uint32_t runs = 0;
  bool kernel_only = false;  ///< no time of the call and of the prologue is wanted
};

struct BenchRuns {
  std::vector<BenchRun> runs;  ///< one a request
  int interrupted_by = 0;      ///< a signal; the rest has failed then
};

/// One process a request, one after the other. `ended` is told of each; `tick`: five times a second. `folder`: an
/// existing one for their answers.
[[nodiscard]] BenchRuns run_bench(const std::vector<BenchRequest>& requests, const std::string& folder,
                                  const std::function<void(std::size_t)>& ended, const std::function<void()>& tick);

/// How the words begin of an Error that is none of this program's: there is no GPU, or it can't be reached.
inline constexpr std::string_view bench_no_gpu = "nothing can be measured here: ";

/// The first of `runtimes` that reaches a GPU with these kernels, in request.runtime, and how fast that GPU copies.
/// Error: none does, or EINTR.
[[nodiscard]] Result<BenchRun> find_gpu(BenchRequest& request, const std::vector<std::string>& runtimes,
                                        const std::string& folder);

/// The other side: `sage-doctor internal bench-gpu ...`. nullopt: it is not that.
[[nodiscard]] std::optional<int> run_bench_child(const std::vector<std::string>& arguments);

}  // namespace sage
