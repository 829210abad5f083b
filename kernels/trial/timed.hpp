// Times one problem on a GPU: the whole call, quantisation included, and the attention kernel alone.
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
  device::Problem problem;  // q_heads and kv_heads alike, kv_len as q_len, no log-sum-exp
  int runs = 0;             // 0: as many as half a second takes, 5 to 50
  int warm_up = 3;
};

struct Timed {
  std::string kernel;               // that the library chose
  std::vector<double> call_ms;      // one a run
  std::vector<double> kernel_ms;    // empty where the kernel could not be launched alone, and `note` says why
  std::string note;
  Errors errors;
  SmokeGate gate{};
  bool accurate = false;
  std::size_t flushed_bytes = 0;    // between runs
};

// `folder`: where `gpu` has its code objects from. Throws std::runtime_error when a call of the driver fails.
[[nodiscard]] Timed time_problem(const Gpu& gpu, const std::string& folder, const TimedRequest& request);

// What a driver says of its GPU. Zero: it does not say.
struct GpuFacts {
  int units = 0;  // multiprocessors; of NVIDIA only: HIP counts compute units of RDNA in pairs
  int mhz = 0;
  int driver_version = 0;
};
[[nodiscard]] GpuFacts gpu_facts(const Gpu& gpu);

}  // namespace sage::trial
