#include "peak.hpp"

#include <algorithm>
#include <array>

namespace sage::model {
namespace {

struct Row {
  std::string_view prefix;
  MatrixRate rate;
};

// AMD: AMD's matrix instruction calculator, cycles of an instruction times SIMDs of a unit: RDNA3 16x16x16 in 32 cycles, two
// SIMDs; RDNA4 in 16 (f16) and 8; CDNA2 and CDNA3 32x32x8 f16 in 64 and 32, four SIMDs. They agree with the peaks that
// AMD states for the RX 7900 XTX, MI210 and MI300X. NVIDIA: the peaks without sparsity of the A100 and H100 data sheets, divided by
// units and boost clock. Others are left out because their rates with an f32 accumulator are not confirmed.
constexpr auto rows = std::to_array<Row>({
    {"gfx11", {512, 512, 0}},
    {"gfx120", {2048, 1024, 2048}},
    {"gfx90a", {1024, 1024, 0}},
    {"gfx942", {4096, 2048, 4096}},
    {"sm_80", {4096, 2048, 0}},
    {"sm_90", {8192, 4096, 8192}},
});

}  // namespace

std::optional<MatrixRate> matrix_rate(std::string_view target) {
  const auto* const found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return target.starts_with(row.prefix); });
  if (found == rows.end()) return std::nullopt;
  return found->rate;
}

std::optional<double> attention_peak(std::string_view target, device::PvType pv, double units, double mhz) {
  const auto rate = matrix_rate(target);
  if (!rate || units <= 0 || mhz <= 0) return std::nullopt;
  const int second = pv == device::PvType::fp8 ? rate->fp8 : rate->f16;
  if (second == 0) return std::nullopt;
  const double together = 2.0 / (1.0 / rate->int8 + 1.0 / second);
  return together * units * mhz * 1e6 / 1e12;
}

}  // namespace sage::model
