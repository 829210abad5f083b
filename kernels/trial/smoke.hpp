// The short test of a kernel after it was built: is what it computes attention?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trial.hpp"

namespace sage::trial {

// What an output may be off. Relative L1 and worst row are those that the accuracy tests hold the kernels to.
struct SmokeGate {
  double relative_l1 = 0.0;
  double worst_row = 0.0;
  double lse = 0.0;
};

// One kernel on one problem, against attention in double precision.
struct SmokeResult {
  std::string kernel;         // of the tile table
  std::string problem;        // "causal, 2061 queries, 2061 keys, head dim 128, f16"
  Errors errors;
  SmokeGate gate{};
  std::string complaint;      // of the lanes' memory or of the fences; empty: none
  std::string first_wrong;    // "queries 128 to 191 of head 0"; empty: none
  bool passed = false;
};

[[nodiscard]] SmokeGate smoke_gate(device::PvType pv);

// The tiles that a device can try: of an emulated target those that it carries, of a GPU those that its code objects have.
[[nodiscard]] std::vector<const device::Tile*> tiles_to_try(const Device& device);

// Dense with a tail of keys and causal with a head dim that is padded, on normal numbers. `every`-th rows are compared.
[[nodiscard]] std::vector<SmokeResult> smoke_test(const Device& device, const device::Tile& tile);

}  // namespace sage::trial
