// The launches of one call: what prepares the inputs, and the attention kernel behind it.
#pragma once

#include <cstdint>

#include "device/plan.hpp"
#include "driver.hpp"

namespace sage::runtime {

// Loaded kernels. sage_finalise is only launched on AMD.
struct ChainKernels {
  Function statistics = nullptr;
  Function finalise = nullptr;
  Function quantise = nullptr;
  Function attention = nullptr;
};

enum class ChainPart : std::uint8_t { all, prologue, attention };

// Enqueues a part of the chain of `problem` with `tile`, whose kernel is kernels.attention. `caller` has what fill_args() leaves to the caller;
// `workspace` has the bytes that workspace_layout() says. With the attention kernel alone, the workspace must be as the prologue left it.
[[nodiscard]] Failure launch_chain(const Driver& driver, const ChainKernels& kernels, const device::Problem& problem, const device::Tile& tile,
                                   const SageArgs& caller, void* workspace, Stream stream, ChainPart part = ChainPart::all);

// Shared memory that a launch of the attention kernel asks for. On AMD it is static, a part of the kernel descriptor.
[[nodiscard]] unsigned dynamic_shared_bytes(const Driver& driver, const device::Tile& tile);

}  // namespace sage::runtime
