#include "doctor/bench/model_rows.hpp"

#include <cmath>

#include "kernels/model/figures.hpp"
#include "kernels/model/peak.hpp"
#include "kernels/runtime/family.hpp"

namespace sage {
namespace {

/// The model has no length: a kernel's row stands for long sequences.
constexpr std::uint32_t long_tokens = 8192;
constexpr std::uint32_t short_tokens = 1024;

}  // namespace

Result<BenchResult> model_result(const std::string& target, const Facts& facts) {
  const auto support = runtime::family_of_target(target);
  if (!support || model::figures_target(target).empty()) {
    return Error{0, "the model has no figures for " + target +
                        ": it knows gfx90a, gfx942, gfx11 and gfx12 targets with kernels"};
  }
  BenchResult result;
  result.origin = BenchOrigin::modelled;
  result.device.target = target;
  add_facts_of_gpu(facts, result.device);
  result.notes.emplace_back(model_warning);
  result.notes.push_back("figures of clang 19.1.7 for " + std::string(model::figures_target(target)) +
                         "; clocks under load, caches, barriers and the rescale body take a further 10 to 25 %");
  for (std::size_t i = 0; i < device::tile_count; ++i) {
    const device::Tile& tile = device::tile_at(i);
    if (tile.family != support->family || (tile.pv == device::PvType::fp8 && !support->fp8)) continue;
    const model::Figures* const figures = model::find_figures(target, tile.kernel);
    if (figures == nullptr) continue;
    BenchRow row;
    row.contender = contender_of(tile.pv);
    row.part = BenchPart::kernel;
    const bool is_long = tile.length == device::Length::long_q;
    row.shape = plain_shape(1, 1, is_long ? long_tokens : short_tokens, static_cast<std::uint32_t>(tile.dp), false);
    row.kernel = tile.kernel;
    row.peak_share = model::modelled(*figures, tile).fraction;
    const auto peak = model::attention_peak(target, tile.pv, result.device.units, result.device.clock_mhz);
    if (peak) row.tflops = row.peak_share * *peak;
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace sage
