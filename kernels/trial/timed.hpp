// Times one problem on a GPU: the whole call, quantisation included, the attention kernel alone, and all of the call but that.
//
// What is timed is the time between two events of the driver on a stream of its own. Before every run a buffer larger than the
// caches is overwritten, so that every run finds the inputs in memory only, as a model's layer does. The same
// outputs are compared with attention in double precision: a speed of wrong numbers is worth nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "smoke.hpp"

namespace sage::trial {

struct TimedRequest {
  device::Problem problem;  // no log-sum-exp
  int runs = 0;             // 0: as many as half a second takes, 5 to 50
  int warm_up = 3;
  bool kernel_only = false;  // the call runs once, for its numbers, and only the attention kernel is timed
};

struct Timed {
  std::string kernel;               // that the library chose
  std::vector<double> call_ms;      // one a run; empty with kernel_only, like prologue_ms
  std::vector<double> kernel_ms;    // empty where the parts could not be launched alone, and `note` says why
  std::vector<double> prologue_ms;  // like kernel_ms
  std::int64_t prologue_bytes = 0;  // device::prologue_bytes()
  std::string note;
  Errors errors;
  SmokeGate gate{};
  bool accurate = false;
  std::size_t flushed_bytes = 0;    // between runs
};

// `folder`: where `gpu` has its code objects from. Throws std::runtime_error when a call of the driver fails.
[[nodiscard]] Timed time_problem(const Gpu& gpu, const std::string& folder, const TimedRequest& request);

// A copy by the driver, from memory of the GPU to memory of the GPU.
struct TimedCopy {
  std::size_t bytes = 0;             // of the copy: as many are read as written; 0: there is no memory for it
  std::vector<double> milliseconds;  // one a run
};
[[nodiscard]] TimedCopy time_copy(const Gpu& gpu);

// What a driver says of its GPU. Zero: it does not say.
struct GpuFacts {
  int units = 0;  // multiprocessors; of NVIDIA only: HIP counts compute units of RDNA in pairs
  int mhz = 0;
  int driver_version = 0;
};
[[nodiscard]] GpuFacts gpu_facts(const Gpu& gpu);

}  // namespace sage::trial
