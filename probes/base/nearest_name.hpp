#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// The candidate that `wanted` was probably meant to be (fewest inserted, deleted or changed letters, at most a third
/// of its length); empty when none is near. Of equally near ones the first.
[[nodiscard]] std::string nearest_name(std::string_view wanted, const std::vector<std::string_view>& candidates);

}  // namespace sage
