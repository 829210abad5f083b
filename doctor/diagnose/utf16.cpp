#include "doctor/diagnose/utf16.hpp"

#include <algorithm>

namespace sage {
namespace {

constexpr unsigned replacement = 0xfffd;

void put_code_point(unsigned code, char*& at) {
  const auto byte = [&](unsigned value) { *at++ = static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

}  // namespace

TextEncoding encoding_of(std::string_view beginning) {
  if (beginning.starts_with("\xff\xfe")) return TextEncoding::utf16_le;
  if (beginning.starts_with("\xfe\xff")) return TextEncoding::utf16_be;
  const std::size_t pairs = beginning.size() / 2;
  std::size_t first = 0;
  std::size_t second = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    first += beginning[2 * i] == '\0' ? 1u : 0u;
    second += beginning[2 * i + 1] == '\0' ? 1u : 0u;
  }
  // Half of the letters Latin, and next to nothing on the other side: binary files have NULs everywhere.
  const auto many = [&](std::size_t count) { return count > 0 && count >= pairs / 2; };
  const auto few = [&](std::size_t count) { return count <= pairs / 50; };
  if (many(second) && few(first)) return TextEncoding::utf16_le;
  if (many(first) && few(second)) return TextEncoding::utf16_be;
  return TextEncoding::utf8;
}

std::size_t Utf16Decoder::decode(std::string_view input, bool last, char* into) {
  char* at = into;
  const unsigned low = encoding_ == TextEncoding::utf16_be ? 1 : 0;
  const auto unit = [low](unsigned char a, unsigned char b) -> unsigned {
    return low == 1 ? static_cast<unsigned>(a << 8 | b) : static_cast<unsigned>(b << 8 | a);
  };
  std::size_t i = 0;
  if (odd_byte_ >= 0 && !input.empty()) {
    put(unit(static_cast<unsigned char>(odd_byte_), static_cast<unsigned char>(input[0])), at);
    odd_byte_ = -1;
    i = 1;
  }
  for (; i + 1 < input.size(); i += 2) {
    const unsigned value = unit(static_cast<unsigned char>(input[i]), static_cast<unsigned char>(input[i + 1]));
    if (value < 0x80 && high_half_ == 0) {
      *at++ = static_cast<char>(value);
    } else {
      put(value, at);
    }
  }
  if (i < input.size()) odd_byte_ = static_cast<unsigned char>(input[i]);
  if (last && (odd_byte_ >= 0 || high_half_ != 0)) {
    put_code_point(replacement, at);
    odd_byte_ = -1;
    high_half_ = 0;
  }
  return static_cast<std::size_t>(at - into);
}

void Utf16Decoder::put(unsigned unit, char*& at) {
  const bool high = unit >= 0xd800 && unit < 0xdc00;
  const bool low = unit >= 0xdc00 && unit < 0xe000;
  if (high_half_ != 0) {
    if (low) {
      put_code_point(0x10000 + ((high_half_ - 0xd800) << 10) + (unit - 0xdc00), at);
      high_half_ = 0;
      return;
    }
    put_code_point(replacement, at);
    high_half_ = 0;
  }
  if (high) {
    high_half_ = unit;
  } else {
    put_code_point(low ? replacement : unit, at);
  }
}

}  // namespace sage
