#include "doctor/report/wrap.hpp"

#include <cstdint>

#include "probes/base/text.hpp"

namespace sage {
namespace {

// Length of the UTF-8 sequence at the front of `text`, 0 when it is not one (overlong forms and surrogates included).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

bool control(std::string_view sequence) {
  const auto first = static_cast<std::uint8_t>(sequence[0]);
  if (first < 0x20 || first == 0x7f) return true;
  // U+0080 to U+009F: terminals may take them for escape sequences.
  if (first == 0xc2) return static_cast<std::uint8_t>(sequence[1]) < 0xa0;
  // Marks that turn the direction of writing: what is shown would not be what is there (CVE-2021-42574).
  return (sequence >= "\u202a" && sequence <= "\u202e") || (sequence >= "\u2066" && sequence <= "\u2069");
}

// What makes text look like other text than it is (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: the
// direction of writing), breaks lines (U+2028, U+2029), or is no character of XML (U+FFFE, U+FFFF).
bool deceptive(std::string_view sequence) {
  if (sequence == "\xd8\x9c") return true;
  const auto within = [&](std::string_view first, std::string_view last) {
    return sequence >= first && sequence <= last;
  };
  return sequence.size() == 3 && (within("\xe2\x80\x8e", "\xe2\x80\x8f") || within("\xe2\x80\xa8", "\xe2\x80\xae") ||
                                  within("\xe2\x81\xa6", "\xe2\x81\xa9") || within("\xef\xbf\xbe", "\xef\xbf\xbf"));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (sequence == "\n" || sequence == "\t") {
      safe += ' ';
    } else if (length == 0 || control(sequence) || deceptive(sequence)) {
      safe += '?';
    } else {
      safe += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return safe;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<std::uint8_t>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

namespace {

std::string blanks_beside(std::string_view text, std::size_t width) {
  const std::size_t taken = columns(text);
  return std::string(taken < width ? width - taken : 0, ' ');
}

}  // namespace

std::string left_aligned(std::string_view text, std::size_t width) {
  return std::string(text) + blanks_beside(text, width);
}

std::string right_aligned(std::string_view text, std::size_t width) {
  return blanks_beside(text, width) + std::string(text);
}

std::string wrapped(std::string_view text, std::string_view first, std::string_view rest, std::size_t width) {
  std::string out(first);
  std::size_t used = columns(first);
  bool line_has_word = false;
  for (const std::string_view word : words(text)) {
    const std::size_t length = columns(word);
    if (line_has_word && used + 1 + length > width) {
      out += '\n';
      out += rest;
      used = columns(rest);
      line_has_word = false;
    }
    if (line_has_word) {
      out += ' ';
      ++used;
    }
    out += word;
    used += length;
    line_has_word = true;
  }
  out += '\n';
  return out;
}

}  // namespace sage
