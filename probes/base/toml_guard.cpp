#include "probes/base/toml_guard.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace sage {
namespace {

bool allowed_outside_strings(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte < 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

/// Behind the string that begins at `at`; a string without end goes to the end of its line, or of the text.
std::size_t behind_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool long_form = text.substr(at, 3) == std::string(3, quote);
  const bool has_escapes = quote == '"';
  const std::string closing(long_form ? 3 : 1, quote);
  at += closing.size();
  while (at < text.size()) {
    if (has_escapes && text[at] == '\\') {
      at += 2;
    } else if (text.substr(at, closing.size()) == closing) {
      at += closing.size();
      // Up to two quotes may stand right before the closing three.
      for (int extra = 0; long_form && extra < 2 && at < text.size() && text[at] == quote; ++extra) ++at;
      return at;
    } else if (!long_form && text[at] == '\n') {
      return at;
    } else {
      ++at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<Error> toml_text_problem(std::string_view text, std::string_view file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      at = behind_string(text, at);
    } else if (allowed_outside_strings(c)) {
      ++at;
    } else {
      const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
      return Error{0, std::string(file) + ":" + std::to_string(line) + ": a character that must stand in quotes"};
    }
  }
  return std::nullopt;
}

}  // namespace sage
