#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "probes/base/enum_names.hpp"

namespace sage {

enum class TextEncoding { utf8, utf16_le, utf16_be };

template <>
inline constexpr auto enum_names<TextEncoding> = std::to_array<EnumName<TextEncoding>>({
    {TextEncoding::utf8, "UTF-8"},
    {TextEncoding::utf16_le, "UTF-16LE"},
    {TextEncoding::utf16_be, "UTF-16BE"},
});

/// By the byte order mark, else by where the NUL bytes of mostly Latin text stand. PowerShell's `>` writes UTF-16.
[[nodiscard]] TextEncoding encoding_of(std::string_view beginning);

/// UTF-16 to UTF-8, piece by piece. What is no UTF-16 becomes U+FFFD.
class Utf16Decoder {
 public:
  /// Bytes of output that `size` bytes of input can make.
  [[nodiscard]] static constexpr std::size_t room_for(std::size_t size) { return (size / 2 + 2) * 3; }

  void set_encoding(TextEncoding encoding) { encoding_ = encoding; }
  [[nodiscard]] TextEncoding encoding() const { return encoding_; }

  /// Writes to `into` and gives the number of bytes. `last`: nothing follows.
  [[nodiscard]] std::size_t decode(std::string_view input, bool last, char* into);

 private:
  void put(unsigned unit, char*& at);

  TextEncoding encoding_ = TextEncoding::utf8;
  int odd_byte_ = -1;       ///< the first half of a unit
  unsigned high_half_ = 0;  ///< of a pair of surrogates
};

}  // namespace sage
