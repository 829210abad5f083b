#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// Without blanks, tabs, carriage returns and line ends at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The parts between separators; n separators give n+1 parts, empty ones included.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// Lines without their ends; a last line without an end counts.
[[nodiscard]] std::vector<std::string_view> lines(std::string_view text);

/// Words separated by blanks and tabs; no empty ones.
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);

[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// The whole text as a number, nothing before or after it; nullopt otherwise, also on overflow. Base 10 or 16; base 16
/// takes an optional 0x.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

/// ASCII only, independent of the locale.
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] bool contains(std::string_view text, std::string_view part);
/// ASCII letters compared without case.
[[nodiscard]] bool contains_ignoring_case(std::string_view text, std::string_view part);

/// "1002", "0c": lower-case hex, padded with zeros to `width`.
[[nodiscard]] std::string hex(std::uint64_t value, int width = 1);

/// "16.0 GiB", "64.0 MiB", "512 B".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

}  // namespace sage
