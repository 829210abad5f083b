#include "doctor/diagnose/clean_line.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sage {
namespace {

constexpr char escape = '\033';

/// Of printable ASCII and tabs. Without a branch, so that the compiler makes it one of vectors: it looks at every byte.
bool is_plain(std::string_view line) {
  unsigned odd = 0;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    odd |= static_cast<unsigned>(static_cast<unsigned char>(byte - 0x20) > 0x5e) & static_cast<unsigned>(byte != '\t');
  }
  return odd == 0;
}

/// Behind the string that an operating system command, device control string or the like begins; where nothing ends it,
/// behind its first two bytes. `unended`: none ends in the rest of this text, which is looked through in vain once.
std::size_t behind_control_string(std::string_view text, std::size_t at, bool& unended) {
  for (std::size_t i = at + 2; i < text.size() && !unended; ++i) {
    if (text[i] == '\a') return i + 1;
    if (text[i] == escape && i + 1 < text.size() && text[i + 1] == '\\') return i + 2;
  }
  unended = true;
  return at + 2;
}

/// Behind the escape sequence at `at` (ECMA-48).
std::size_t behind_escape(std::string_view text, std::size_t at, bool& unended) {
  if (at + 1 >= text.size()) return text.size();
  const auto in = [&](std::size_t i, char first, char last) {
    return i < text.size() && text[i] >= first && text[i] <= last;
  };
  std::size_t i = at + 1;
  switch (text[i]) {
    case '[':
      ++i;
      while (in(i, 0x30, 0x3f)) ++i;
      while (in(i, 0x20, 0x2f)) ++i;
      return in(i, 0x40, 0x7e) ? i + 1 : i;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return behind_control_string(text, at, unended);
    default:
      while (in(i, 0x20, 0x2f)) ++i;
      return in(i, 0x30, 0x7e) ? i + 1 : i;
  }
}

struct Replacement {
  std::string_view from;
  std::string_view to;
};

constexpr std::array replacements = {
    Replacement{"\u2018", "'"},  Replacement{"\u2019", "'"}, Replacement{"\u201c", "\""},
    Replacement{"\u201d", "\""}, Replacement{"\u00a0", " "}, Replacement{"\ufeff", ""},
    Replacement{"\u200b", ""},   Replacement{"\u200e", ""},  Replacement{"\u200f", ""},
};

}  // namespace

std::span<const std::string_view> LineCleaner::parts(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  parts_.clear();
  if (is_plain(line)) {
    if (!line.empty()) parts_.push_back(line);
    return parts_;
  }
  clean(line);
  std::string_view rest = clean_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\r'), rest.size());
    if (end > 0) parts_.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parts_;
}

void LineCleaner::clean(std::string_view line) {
  clean_.clear();
  bool unended = false;
  std::size_t at = 0;
  while (at < line.size()) {
    const char c = line[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == escape) {
      at = behind_escape(line, at, unended);
      continue;
    }
    if (byte >= 0xc2) {
      const auto* found = std::find_if(replacements.begin(), replacements.end(),
                                       [&](const Replacement& row) { return line.substr(at).starts_with(row.from); });
      if (found != replacements.end()) {
        clean_ += found->to;
        at += found->from.size();
        continue;
      }
    }
    ++at;
    if (c == '\b' && !clean_.empty() && clean_.back() != '\r') clean_.pop_back();
    if ((byte >= 0x20 && byte != 0x7f) || c == '\t' || c == '\r') clean_ += c;
  }
}

}  // namespace sage
