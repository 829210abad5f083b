#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// The candidate with the smallest edit distance to `word`, for "did you mean": empty when none is near, that is when
/// more than half of the word would have to change. Words longer than 64 characters have no neighbours.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace sage
