#include "probes/base/version.hpp"

#include <algorithm>
#include <charconv>

namespace sage {

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  const std::size_t count = std::max(a.parts.size(), b.parts.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t left = i < a.parts.size() ? a.parts[i] : 0;
    const std::uint32_t right = i < b.parts.size() ? b.parts[i] : 0;
    if (const auto order = left <=> right; order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    std::uint32_t part = 0;
    const auto [after, status] = std::from_chars(at, end, part);
    if (status == std::errc::result_out_of_range) return std::nullopt;
    if (status != std::errc()) break;
    version.parts.push_back(part);
    at = after;
    if (at == end || *at != '.') break;
    ++at;
  }
  if (version.parts.empty()) return std::nullopt;
  return version;
}

bool version_below(std::string_view text, std::string_view bound) {
  const auto version = parse_version(text);
  const auto limit = parse_version(bound);
  return version && limit && *version < *limit;
}

}  // namespace sage
