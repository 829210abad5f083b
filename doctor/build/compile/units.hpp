#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/plan.hpp"

namespace sage {

/// What one compiler run makes: one attention kernel, or the three kernels of the prologue.
struct Unit {
  std::string name;                      ///< "sage_attention_d128_F16_LONG", "sage_prologue"
  std::vector<std::string> kernels;      ///< exported symbols of its code object
  const device::Tile* tile = nullptr;    ///< row of the tile table; nullptr: the prologue
};

/// All that is built for a target.
struct TargetUnits {
  device::Family family = device::Family::gfx12;
  bool fp8 = false;
  std::vector<Unit> units;  ///< the prologue first, then those that take longest to compile
};

inline constexpr std::string_view prologue_unit = "sage_prologue";

/// `target`: "gfx1201", "gfx90a:xnack-", "sm_90". nullopt when there are no kernels for it.
[[nodiscard]] std::optional<TargetUnits> units_of(std::string_view target);

/// The alternatives for a target (kernels/device/alternatives.hpp), which no build makes; without the prologue.
[[nodiscard]] std::optional<TargetUnits> alternative_units_of(std::string_view target);

/// The AMD targets that have kernels, in the order of their names.
[[nodiscard]] std::vector<std::string> targets_with_kernels();

/// The unit of the other length class of the same tile; nullptr when there is none, for the prologue and for alternatives.
[[nodiscard]] const Unit* other_length(const TargetUnits& all, const Unit& unit);

/// "gfx1201-sage_prologue.hsaco", "sm_90-sage_prologue.cubin": what the file is called in the kernels' folder.
[[nodiscard]] std::string object_file_name(std::string_view target, std::string_view unit);

/// "d128_F16_LONG" of "sage_attention_d128_F16_LONG": what is left where there is little room. Other names stay.
[[nodiscard]] std::string short_unit_name(const std::string& unit);

/// "gfx9", "gfx11", "gfx12", "nvidia".
[[nodiscard]] std::string_view family_name(device::Family family);

}  // namespace sage
