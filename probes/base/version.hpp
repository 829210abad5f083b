#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sage {

/// A dotted version compared number by number, so that ROCm 10.1 is newer than 7.14. Missing parts count as 0.
struct Version {
  std::vector<std::uint32_t> parts;

  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }
};

/// The leading dotted number of a text: "7.2.0-47" is 7.2.0, "6.8.0-51-generic" is 6.8.0, "2.9.1+rocm7.2" is 2.9.1.
/// nullopt when the text does not begin with a digit or a part exceeds 32 bits.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);

/// True when both parse and `text` is older than `bound`; false when either does not parse.
[[nodiscard]] bool version_below(std::string_view text, std::string_view bound);

}  // namespace sage
