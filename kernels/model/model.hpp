// What the counted instructions would cost: a model, not a measurement.
//
// RDNA: matrix and vector instructions do not overlap, so cycles per SIMD are the matrix instructions' cycles plus one
// for every other issued instruction; where published kernels allow a comparison, it is within 15 %. CDNA: a vector
// instruction of 64 lanes takes four cycles, and 28 of the 32 cycles of a matrix instruction can hide them when another
// wave is there to issue; the model gives the better of both bounds and is rougher. Matrix cycles are those of AMD's
// matrix instruction calculator.
#pragma once

#include <string_view>

#include "device/plan.hpp"
#include "disassembly.hpp"

namespace sage::model {

struct Machine {
  std::string_view target;
  device::Family family;
  bool wide_int8;  // gfx942: int8 and fp8 instructions with twice the keys of gfx90a's
  int registers;   // vector registers per SIMD, of 32 lanes on RDNA, of 64 on CDNA
  int granule;     // registers are handed out in multiples of this
  int max_waves;   // per SIMD
  int int8_cycles, f16_cycles, fp8_cycles;
};

// The targets that the gates build; null for others.
[[nodiscard]] const Machine* find_machine(std::string_view target);

// Waves per SIMD that registers and shared memory allow.
[[nodiscard]] int occupancy(const Machine& machine, const device::Tile& tile, int vgprs, int lds_bytes);

// Share of the peak matrix rate that one iteration reaches, without the rescale body, 0 to 1.
[[nodiscard]] double modelled_fraction(const Machine& machine, const LoopCount& loop);

}  // namespace sage::model
