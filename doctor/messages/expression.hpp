#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sage {

/// Texts by name: the groups of a match and what else a template may use.
using Words = std::map<std::string, std::string>;

/// How expressions for messages are compiled: by bytes, so that a byte that is no UTF-8 hides nothing that stands after
/// it, and silent about errors, which the caller reports.
[[nodiscard]] RE2::Options message_options();

/// Whether `expression` is found anywhere in `line`.
[[nodiscard]] bool found_in(const RE2& expression, std::string_view line);

/// Where an expression was found in a line, and its named groups, each short and printable.
struct FoundMessage {
  std::size_t at = 0;
  std::size_t size = 0;
  Words words;
};

/// The first match in `line`; nullopt: there is none.
[[nodiscard]] std::optional<FoundMessage> find_message(const RE2& expression, std::string_view line);

/// Printable, without blanks at its ends, and with "..." for what is beyond `most` bytes.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// The same of the part of a line around a match: "...the words that count...".
[[nodiscard]] std::string shortened_around(std::string_view text, std::size_t at, std::size_t most);

/// "{name}" becomes the word of that name; a name without a word, or with an empty one, becomes "?".
[[nodiscard]] std::string filled(std::string_view text, const Words& words);

/// The names in braces in a template, in their order.
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);

}  // namespace sage
