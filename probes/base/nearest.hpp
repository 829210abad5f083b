#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// The candidate that `word` is most likely a misspelling of: the smallest edit distance, at most a third of the
/// word's length (at least 2). Empty when none is that close. Of equally near ones the first.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);

/// " (did you mean 'x'?)", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace sage
