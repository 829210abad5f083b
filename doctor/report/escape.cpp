#include "doctor/report/escape.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool alphanumeric(char c) {
  return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// An HTML comment is nothing to a reader and splits what GitHub would take for one word after Markdown was turned into
// HTML, where a backslash no longer helps.
constexpr std::string_view splitter = "<!-- -->";

// ":word:". Of digits alone there are :100: and :1234: only, and a ":00:" is part of every PCI address and time.
bool is_emoji(std::string_view text) {
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_+-", 1);
  if (end == std::string_view::npos || text[end] != ':') return false;
  return end > 3 || text.substr(1, end - 1).find_first_not_of("0123456789") != std::string_view::npos;
}

// Whether `text` has at `at` the end of a word that GitHub makes more of when it goes on.
bool splits_after(std::string_view text, std::size_t at) {
  const char next = at + 1 < text.size() ? text[at + 1] : ' ';
  const std::string_view before = text.substr(0, at + 1);
  switch (text[at]) {
    case '@':
    case '#':
      return alphanumeric(next);
    case ':':
      return next == '/' || is_emoji(text.substr(at));
    // "GH-12"
    case '-':
      return at >= 2 && contains_ignoring_case(before.substr(at - 2), "gh-") && digit(next);
    // "www.example.org"
    case 'w':
    case 'W':
      return next == '.' && at >= 2 && contains_ignoring_case(before.substr(at - 2), "www");
    default:
      return false;
  }
}

std::size_t longest_run(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  const std::string safe = printable(text);
  const std::string_view shown = trim(safe);
  std::string out;
  // What at the begin of a line or list item is a heading, list, quotation, rule or underlining.
  const std::size_t number_end = std::min(shown.find_first_not_of("0123456789"), shown.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    const bool ends_word = i + 1 == shown.size() || shown[i + 1] == ' ';
    const bool begins_block = (i == 0 && contains("#+-=", std::string(1, c))) ||
                              (i > 0 && i == number_end && (c == '.' || c == ')') && ends_word);
    // Within a word an underscore is one.
    const bool inside_word = i > 0 && !ends_word && alphanumeric(shown[i - 1]) && alphanumeric(shown[i + 1]);
    if (c == '|') {
      // A backslash before a pipe does not mean the same everywhere in a table.
      out += "&#124;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      const bool markup = contains("\\`*[]>~$^", std::string(1, c)) || (c == '_' && !inside_word);
      if (begins_block || markup) out += '\\';
      out += c;
    }
    if (splits_after(shown, i)) out += splitter;
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  const std::string safe = printable(text);
  if (trim(safe).empty()) return "";
  const std::string fence(longest_run(safe, '`') + 1, '`');
  const bool pad = fence.size() > 1 || safe.starts_with(' ') || safe.ends_with(' ');
  return fence + (pad ? " " : "") + safe + (pad ? " " : "") + fence;
}

std::string markdown_block(std::string_view language, const std::vector<std::string>& lines) {
  std::string body;
  for (const std::string& line : lines) body += printable(line) + "\n";
  const std::string fence(std::max<std::size_t>(3, longest_run(body, '`') + 1), '`');
  return fence + std::string(language) + "\n" + body + fence + "\n";
}

std::string uri_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (alphanumeric(c) || contains("-._~/", std::string(1, c))) {
      out += c;
    } else {
      const std::string code = hex(static_cast<std::uint8_t>(c), 2);
      out += '%';
      std::transform(code.begin(), code.end(), std::back_inserter(out),
                     [](char d) { return d >= 'a' ? static_cast<char>(d - 'a' + 'A') : d; });
    }
  }
  return out;
}

std::string sarif_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '{' || c == '}') out += c;
    if (c == '(' && out.ends_with(']')) out += ' ';
    out += c;
  }
  return out;
}

}  // namespace sage
