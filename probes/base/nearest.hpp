#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// The candidate that `word` is most likely a misspelling of: the smallest edit distance, at most a third of the
/// word's length (at least 2). nullopt when none is that close.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean 'x'?)", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sage
