#include "model.hpp"

#include <algorithm>
#include <array>

namespace sage::model {
namespace {

using device::Family;

constexpr int rdna_lds_bytes = 131072;  // of a work-group processor with four SIMDs; one workgroup may have half of it
constexpr int cdna_lds_bytes = 65536;   // of a compute unit with four SIMDs
constexpr int simds = 4;

constexpr auto machines = std::to_array<Machine>({
    {"gfx90a", Family::gfx9, false, 512, 8, 8, 64, 64, 0},
    {"gfx942", Family::gfx9, true, 512, 8, 8, 32, 32, 32},
    {"gfx1100", Family::gfx11, false, 1536, 24, 16, 32, 32, 0},
    {"gfx1102", Family::gfx11, false, 1024, 16, 16, 32, 32, 0},
    {"gfx1151", Family::gfx11, false, 1536, 24, 16, 32, 32, 0},
    {"gfx1201", Family::gfx12, false, 1536, 24, 16, 8, 16, 8},
});

}  // namespace

const Machine* find_machine(std::string_view target) {
  const auto* const found =
      std::find_if(machines.begin(), machines.end(), [&](const Machine& m) { return m.target == target; });
  return found == machines.end() ? nullptr : found;
}

int occupancy(const Machine& machine, const device::Tile& tile, int vgprs, int lds_bytes) {
  const int allocated = std::max(1, (vgprs + machine.granule - 1) / machine.granule) * machine.granule;
  const int by_registers = std::min(machine.max_waves, machine.registers / allocated);
  const int lds_total = machine.family == Family::gfx9 ? cdna_lds_bytes : rdna_lds_bytes;
  const int by_lds = lds_bytes == 0 ? machine.max_waves : lds_total / lds_bytes * tile.waves / simds;
  return std::min(by_registers, by_lds);
}

double modelled_fraction(const Machine& machine, const LoopCount& loop) {
  const double matrix = machine.int8_cycles * loop.matrix.int8 + machine.f16_cycles * loop.matrix.f16 +
                        machine.fp8_cycles * loop.matrix.fp8;
  const double others = loop.hot - loop.matrix.total();
  if (matrix <= 0) return 0;
  if (machine.family != Family::gfx9) return matrix / (matrix + others);
  constexpr double vector_cycles = 4;
  constexpr double hidden_share = 28.0 / 32.0;
  return matrix / (matrix + std::max(0.0, vector_cycles * others - hidden_share * matrix));
}

}  // namespace sage::model
