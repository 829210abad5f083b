#include "figures.hpp"

#include <algorithm>
#include <array>

namespace sage::model {
namespace {

constexpr auto rows = std::to_array<Figures>({
#include "figures.inc"
});

}  // namespace

std::span<const Figures> all_figures() {
  return rows;
}

std::string_view figures_target(std::string_view target) {
  const std::string_view processor = target.substr(0, target.find(':'));
  if (processor.starts_with("gfx120")) return "gfx1201";
  if (processor.starts_with("gfx11")) return "gfx1100";
  if (processor == "gfx90a") return "gfx90a";
  if (processor == "gfx942") return "gfx942";
  return "";
}

const Figures* find_figures(std::string_view target, std::string_view kernel) {
  const std::string_view wanted = figures_target(target);
  const auto* const found =
      std::find_if(rows.begin(), rows.end(), [&](const Figures& row) { return row.target == wanted && row.kernel == kernel; });
  return found == rows.end() ? nullptr : found;
}

Modelled modelled(const Figures& figures, const device::Tile& tile) {
  const Machine* const machine = find_machine(figures.target);
  if (machine == nullptr) return {};
  LoopCount loop;
  loop.matrix = {figures.int8, figures.f16, figures.fp8};
  loop.hot = figures.hot;
  loop.rescale = figures.rescale;
  return {modelled_fraction(*machine, loop), occupancy(*machine, tile, figures.vgprs, device::tile_lds_bytes(tile))};
}

}  // namespace sage::model
