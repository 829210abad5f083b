#include "probes/base/nearest_name.hpp"

#include <algorithm>
#include <cstddef>

namespace sage {
namespace {

// Names are short; a longer text is no misspelling of one.
constexpr std::size_t longest = 64;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string_view>& candidates) {
  if (wanted.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(wanted.size() / 3, 1) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = candidate.size() > longest ? longest : edit_distance(wanted, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return std::string(best);
}

}  // namespace sage
