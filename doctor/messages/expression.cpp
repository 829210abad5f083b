#include "doctor/messages/expression.hpp"

#include <cstddef>
#include <utility>

#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t longest_word = 200;

/// Calls `plain` and `name` with the parts of a template in turn. A brace that is not closed is plain text.
template <class Plain, class Name>
void walk(std::string_view text, const Plain& plain, const Name& name) {
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open == std::string_view::npos ? text.size() : open);
    if (close == std::string_view::npos) return plain(text);
    plain(text.substr(0, open));
    name(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
}

/// The last place up to `at` that is not inside a character.
std::size_t character_begin(std::string_view text, std::size_t at) {
  constexpr std::size_t longest_character = 4;
  for (std::size_t i = 0; i < longest_character && i <= at; ++i) {
    if ((static_cast<unsigned char>(text[at - i]) & 0xc0) != 0x80) return at - i;
  }
  return at;
}

}  // namespace

RE2::Options message_options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return options;
}

bool found_in(const RE2& expression, std::string_view line) {
  const re2::StringPiece text(line.data(), line.size());
  return expression.Match(text, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

std::optional<FoundMessage> find_message(const RE2& expression, std::string_view line) {
  if (!found_in(expression, line)) return std::nullopt;  // costs less than to ask for the groups
  const int count = expression.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(count));
  const re2::StringPiece text(line.data(), line.size());
  if (!expression.Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(), count)) return std::nullopt;
  FoundMessage found;
  found.at = static_cast<std::size_t>(groups[0].data() - line.data());
  found.size = groups[0].size();
  for (const auto& [name, index] : expression.NamedCapturingGroups()) {
    const re2::StringPiece& group = groups[static_cast<std::size_t>(index)];
    if (!group.empty()) found.words[name] = shortened({group.data(), group.size()}, longest_word);
  }
  return found;
}

std::string shortened(std::string_view text, std::size_t most) {
  text = trim(text);
  if (text.size() <= most) return printable(text);
  return printable(text.substr(0, character_begin(text, most))) + "...";
}

std::string shortened_around(std::string_view text, std::size_t at, std::size_t most) {
  const std::size_t before = most / 5;
  if (text.size() <= most || at <= before) return shortened(text, most);
  return "..." + shortened(text.substr(character_begin(text, at - before)), most);
}

std::string filled(std::string_view text, const Words& words) {
  std::string result;
  walk(
      text, [&](std::string_view plain) { result += plain; },
      [&](std::string_view name) {
        const auto found = words.find(std::string(name));
        result += found == words.end() || found->second.empty() ? "?" : found->second;
      });
  return result;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  walk(
      text, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

}  // namespace sage
