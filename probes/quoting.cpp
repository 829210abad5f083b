#include "probes/quoting.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/text.hpp"

namespace sage {
namespace {

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

/// Position behind the bracket that closes the one before `begin`, nested ones passed over; the end when none does.
std::size_t behind_bracket(std::string_view text, std::size_t begin, char open, char close) {
  int depth = 1;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

/// Position behind the quote that closes the one before `begin`.
std::size_t behind_quote(std::string_view text, std::size_t begin, char quote) {
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\\' && quote != '\'') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

/// Position behind the piece of a word that begins at `i`: a character, or a quoted or bracketed run.
std::size_t behind_piece(std::string_view line, std::size_t i) {
  const char c = line[i];
  const char next = i + 1 < line.size() ? line[i + 1] : '\0';
  if (is_one_of(c, "\"'`")) return behind_quote(line, i + 1, c);
  if (c == '$' && next == '(') return behind_bracket(line, i + 2, '(', ')');
  if (c == '$' && next == '{') return behind_bracket(line, i + 2, '{', '}');
  if (c == '\\') return std::min(i + 2, line.size());
  return i + 1;
}

}  // namespace

std::string unquote(std::string_view text) {
  std::string value;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_one_of(c, "\"'")) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      const char next = text[++i];
      // Inside double quotes a backslash is itself except before these.
      if (quote == '"' && !is_one_of(next, "$`\"\\")) value += c;
      value += next;
    } else {
      value += c;
    }
  }
  return value;
}

std::vector<std::vector<std::string_view>> shell_commands(std::string_view line) {
  std::vector<std::vector<std::string_view>> commands;
  std::vector<std::string_view> command;
  const auto finish = [&] {
    if (!command.empty()) commands.push_back(std::exchange(command, {}));
  };
  std::size_t i = 0;
  while (i < line.size() && line[i] != '#') {
    if (is_one_of(line[i], ";&|()")) finish();
    if (is_one_of(line[i], " \t;&|()")) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < line.size() && !is_one_of(line[i], " \t;&|()")) i = behind_piece(line, i);
    command.push_back(line.substr(begin, i - begin));
  }
  finish();
  return commands;
}

}  // namespace sage
