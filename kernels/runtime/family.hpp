// Which family of kernels serves a GPU, and what it can do.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "device/plan.hpp"

namespace sage::runtime {

struct FamilySupport {
  device::Family family = device::Family::gfx12;
  bool fp8 = false;  // matrix instructions on e4m3
};

// `processor` is a gfx name without features ("gfx90a"). Empty for a GPU that the kernels have no instructions for.
[[nodiscard]] std::optional<FamilySupport> family_of(std::string_view processor);
[[nodiscard]] std::optional<FamilySupport> family_of_sm(unsigned sm);
// `target` as a user or a compiler writes it: "gfx1201", "gfx90a:xnack-", "sm_90".
[[nodiscard]] std::optional<FamilySupport> family_of_target(std::string_view target);

// The gfx names with kernels, in the order of the table.
[[nodiscard]] std::vector<std::string_view> processors_with_kernels();

}  // namespace sage::runtime
