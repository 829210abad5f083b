#include "doctor/build/compile/units.hpp"

#include <algorithm>

#include "kernels/runtime/family.hpp"

namespace sage {
namespace {

constexpr std::string_view nvidia_prefix = "sm_";

Unit prologue() {
  return {std::string(prologue_unit),
          {device::statistics_kernel, device::finalise_kernel, device::quantise_kernel},
          nullptr};
}

/// The rows of a table for a target. The largest head dims take the compilers longest; one of them started last would be
/// waited for alone.
template <class Table>
std::optional<TargetUnits> units_from(const Table& table, std::string_view target) {
  const auto support = runtime::family_of_target(target);
  if (!support) return std::nullopt;
  TargetUnits all{support->family, support->fp8, {}};
  for (const device::Tile& tile : table) {
    if (tile.family != support->family) continue;
    if (tile.pv == device::PvType::fp8 && !support->fp8) continue;
    all.units.push_back({tile.kernel, {tile.kernel}, &tile});
  }
  std::stable_sort(all.units.begin(), all.units.end(),
                   [](const Unit& a, const Unit& b) { return a.tile->dp > b.tile->dp; });
  return all;
}

}  // namespace

std::optional<TargetUnits> units_of(std::string_view target) {
  std::optional<TargetUnits> all = units_from(device::tile_table, target);
  if (all) all->units.insert(all->units.begin(), prologue());
  return all;
}

std::optional<TargetUnits> alternative_units_of(std::string_view target) {
  return units_from(device::alternative_table, target);
}

std::vector<std::string> targets_with_kernels() {
  std::vector<std::string> names;
  for (const std::string_view name : runtime::processors_with_kernels()) names.emplace_back(name);
  return names;
}

const Unit* other_length(const TargetUnits& all, const Unit& unit) {
  if (unit.tile == nullptr || unit.tile->alternative) return nullptr;
  const device::Tile& tile = *unit.tile;
  for (const Unit& other : all.units) {
    if (other.tile == nullptr || other.tile == unit.tile) continue;
    if (other.tile->dp == tile.dp && other.tile->pv == tile.pv && other.tile->length != tile.length) return &other;
  }
  return nullptr;
}

std::string object_file_name(std::string_view target, std::string_view unit) {
  const std::string_view suffix = target.starts_with(nvidia_prefix) ? ".cubin" : ".hsaco";
  return std::string(target) + "-" + std::string(unit) + std::string(suffix);
}

std::string short_unit_name(const std::string& unit) {
  constexpr std::string_view prefix = "sage_attention_";
  return unit.starts_with(prefix) ? unit.substr(prefix.size()) : unit;
}

std::string_view family_name(device::Family family) {
  switch (family) {
    case device::Family::gfx9: return "gfx9";
    case device::Family::gfx11: return "gfx11";
    case device::Family::gfx12: return "gfx12";
    case device::Family::sm90: return "sm90";
    case device::Family::nvidia: break;
  }
  return "nvidia";
}

}  // namespace sage
