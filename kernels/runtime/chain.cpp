#include "chain.hpp"

#include <array>

namespace sage::runtime {

unsigned dynamic_shared_bytes(const Driver& driver, const device::Tile& tile) {
  return driver.api() == Api::cuda ? static_cast<unsigned>(device::tile_lds_bytes(tile)) : 0;
}

Failure launch_chain(const Driver& driver, const ChainKernels& kernels, const device::Problem& problem, const device::Tile& tile,
                     const SageArgs& caller, void* workspace, Stream stream, ChainPart part) {
  SageArgs args = caller;
  const device::Grids grids = device::fill_args(args, problem, tile, workspace);
  SageTensorMap values{};
  if (device::reads_value_rows(tile) && problem.kv_len > 0) {
    if (auto failure = driver.map_tensor(device::value_view(args, tile), values)) return failure;
  }
  struct Step {
    ChainPart part;
    const char* name;
    Function function;
    std::int64_t grid;
    int threads;
    unsigned shared_bytes;
  };
  const std::array steps = {
      Step{ChainPart::prologue, device::statistics_kernel, kernels.statistics, grids.statistics, device::prologue_threads, 0},
      Step{ChainPart::prologue, device::finalise_kernel, kernels.finalise, grids.finalise, device::prologue_threads, 0},
      Step{ChainPart::prologue, device::quantise_kernel, kernels.quantise, grids.quantise, device::prologue_threads, 0},
      Step{ChainPart::attention, tile.kernel, kernels.attention, grids.attention, tile.threads(), dynamic_shared_bytes(driver, tile)},
  };
  // The kernels for sm_90 wait for each other by themselves; the first one of a call waits for whatever is on the stream.
  Order order = Order::after_stream;
  std::array<void*, 2> arguments = {&args, &values};  // a kernel takes as many as it has
  for (const Step& step : steps) {
    if (step.grid == 0 || (part != ChainPart::all && part != step.part)) continue;
    if (auto failure = driver.launch(step.function, static_cast<unsigned>(step.grid), static_cast<unsigned>(step.threads), step.shared_bytes,
                                     stream, arguments.data(), step.name, order))
      return failure;
    if (tile.family == device::Family::sm90) order = Order::by_kernel;
  }
  return success();
}

}  // namespace sage::runtime
