#include "doctor/env/quote.hpp"

#include <algorithm>
#include <optional>

#include "probes/base/text.hpp"

namespace sage {
namespace {

/// `value` with a text put in place of some of its characters; nullptr: it stays.
using Replacement = const char* (*)(char);

std::string replaced(std::string_view value, Replacement replacement) {
  std::string text;
  for (const char c : value) {
    if (const char* instead = replacement(c)) {
      text += instead;
    } else {
      text += c;
    }
  }
  return text;
}

Error refusal(std::string reason) {
  return Error{0, std::move(reason)};
}

bool has_line_break(std::string_view value) {
  return value.find_first_of("\r\n") != std::string_view::npos;
}

const char* in_posix(char c) {
  return c == '\'' ? "'\\''" : nullptr;
}

const char* in_fish(char c) {
  return c == '\'' ? "\\'" : c == '\\' ? "\\\\" : nullptr;
}

// History is looked for inside single quotes too, in scripts as well.
const char* in_csh(char c) {
  return c == '\'' ? "'\\''" : c == '!' ? "\\!" : c == '\n' ? "\\\n" : nullptr;
}

const char* in_docker(char c) {
  return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '$' ? "\\$" : nullptr;
}

const char* in_tcl(char c) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '$': return "\\$";
    case '[': return "\\[";
    case ']': return "\\]";
    case '{': return "\\{";
    case '}': return "\\}";
    case '\n': return "\\n";
    case '\r': return "\\r";
    default: return nullptr;
  }
}

}  // namespace

Result<std::string> quote_posix(std::string_view value) {
  return "'" + replaced(value, in_posix) + "'";
}

Result<std::string> quote_fish(std::string_view value) {
  return "'" + replaced(value, in_fish) + "'";
}

Result<std::string> quote_csh(std::string_view value) {
  if (!is_utf8(value)) return refusal("bytes that are no UTF-8");
  return "'" + replaced(value, in_csh) + "'";
}

Result<std::string> quote_csh_element(std::string_view value) {
  const bool control = std::any_of(value.begin(), value.end(), [](char c) { return c >= 0 && c < ' '; });
  if (control) return refusal("a control character, with which csh could not take it off the list again");
  if (contains(value, "{_}")) return refusal("{_}, which stands for a blank when csh takes it off the list again");
  return quote_csh(value);
}

Result<std::string> quote_powershell(std::string_view value) {
  if (!is_utf8(value)) return refusal("bytes that are no UTF-8");
  std::string text = "'";
  for (std::size_t i = 0; i < value.size(); ++i) {
    // The typographic quotes U+2018 to U+201B end a string as ' does; doubled they stand for themselves.
    const std::string_view three = value.substr(i, 3);
    const bool general = three.size() == 3 && three.substr(0, 2) == "\xE2\x80";
    const bool curly = general && three[2] >= '\x98' && three[2] <= '\x9B';
    if (curly) {
      text += std::string(three) + std::string(three);
      i += 2;
    } else {
      text += value[i];
      if (value[i] == '\'') text += '\'';
    }
  }
  return text + "'";
}

Result<std::string> quote_dotenv(std::string_view value) {
  if (has_line_break(value)) return refusal("a line break");
  if (!is_utf8(value)) return refusal("bytes that are no UTF-8");
  const std::size_t odd = value.find_first_of("'\\$");
  if (odd != std::string_view::npos) return refusal("a " + std::string(value.substr(odd, 1)));
  return "'" + std::string(value) + "'";
}

Result<std::string> quote_github(std::string_view value) {
  if (!is_utf8(value)) return refusal("bytes that are no UTF-8");
  if (value.find('\r') != std::string_view::npos) return refusal("a carriage return");
  if (!has_line_break(value)) return "=" + std::string(value);
  std::string end = "SAGE_DOCTOR_END";
  while (contains(value, end)) end += "_";
  return "<<" + end + "\n" + std::string(value) + "\n" + end;
}

Result<std::string> quote_docker(std::string_view value) {
  if (has_line_break(value)) return refusal("a line break");
  if (!is_utf8(value)) return refusal("bytes that are no UTF-8");
  return replaced(value, in_docker);
}

Result<std::string> quote_tcl(std::string_view value) {
  if (!is_utf8(value)) return refusal("bytes that are no UTF-8");
  return "\"" + replaced(value, in_tcl) + "\"";
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : (first & 0xF0) == 0xE0 ? 3
                               : first >= 0xF0 && first < 0xF5                   ? 4
                                                                                 : 0;
    if (length == 0 || i + length > text.size()) return false;
    unsigned code = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
      code = code << 6 | (byte(i + k) & 0x3F);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10FFFF ||
        (code >= 0xD800 && code < 0xE000)) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace sage
