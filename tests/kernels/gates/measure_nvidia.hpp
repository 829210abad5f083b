// Compiles the device text with nvcc for one sm and reads ptxas' own account of every kernel, and the matrix
// instructions from the PTX that it was made of.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "code_object/cubin.hpp"
#include "device/plan.hpp"

namespace sage::gates {

struct NvidiaKernel {
  std::string name;
  const device::Tile* tile = nullptr;  // null for the prologue
  int registers = -1;                  // -1: ptxas did not say
  int stack = -1;                      // bytes, for one thread
  int spill_stores = -1;               // likewise
  int spill_loads = -1;
  int matrix = 0;  // matrix instructions in the kernel
  int blocks = 0;  // that an SM holds at a time
};

struct NvidiaMeasured {
  std::string problem;  // why there is nothing else here; empty: all went well
  code_object::Cubin cubin;
  std::vector<NvidiaKernel> kernels;  // those of the cubin that ptxas reported
};

struct NvidiaMachine {
  unsigned sm;
  int shared_bytes_per_block;  // the most that a launch may ask for
  int shared_bytes_per_sm;
  int warps_per_sm;
  bool fp8;
  bool wide_fp8;  // mma.sync takes fp8 operands
};

// sm_80, sm_89, sm_90 (CUDA programming guide, technical specifications per compute capability); null for others.
[[nodiscard]] const NvidiaMachine* find_nvidia_machine(unsigned sm);

// Whose tiles the GPU has.
[[nodiscard]] device::Family family_of(const NvidiaMachine& machine);

// Needs nvcc on PATH. Writes into `folder`. With `alternatives` the rows of alternatives.hpp are kernels, too.
[[nodiscard]] NvidiaMeasured measure_nvidia(const std::filesystem::path& text, const NvidiaMachine& machine,
                                            const std::filesystem::path& folder, bool alternatives = false);

// Blocks of a tile that one SM holds, by registers, shared memory and warps.
[[nodiscard]] int resident_blocks(const NvidiaMachine& machine, const device::Tile& tile, int registers);

}  // namespace sage::gates
