#include "bytes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sage::code_object {
namespace {

template <class T>
std::optional<T> read_little_endian(ByteSpan data, std::uint64_t offset) {
  if (offset > data.size() || sizeof(T) > data.size() - offset) return std::nullopt;
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const auto byte = static_cast<std::uint64_t>(data[static_cast<std::size_t>(offset) + i]);
    value = static_cast<T>(value | static_cast<T>(byte << (8 * i)));
  }
  return value;
}

}  // namespace

std::optional<ByteSpan> Bytes::try_slice(std::uint64_t offset, std::uint64_t length) const {
  if (!contains(offset, length)) return std::nullopt;
  return data_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
}

std::optional<std::uint8_t> Bytes::u8(std::uint64_t offset) const {
  return read_little_endian<std::uint8_t>(data_, offset);
}
std::optional<std::uint16_t> Bytes::u16(std::uint64_t offset) const {
  return read_little_endian<std::uint16_t>(data_, offset);
}
std::optional<std::uint32_t> Bytes::u32(std::uint64_t offset) const {
  return read_little_endian<std::uint32_t>(data_, offset);
}
std::optional<std::uint64_t> Bytes::u64(std::uint64_t offset) const {
  return read_little_endian<std::uint64_t>(data_, offset);
}

Result<ByteSpan> Bytes::slice(std::uint64_t offset, std::uint64_t length, std::string_view what) const {
  if (const auto part = try_slice(offset, length)) return *part;
  // An offset inside of the data means that the end is missing; an offset beyond it cannot be a plain truncation of a
  // file whose header is intact, but both are the same defect to the reader of the message.
  const Errc code = offset <= data_.size() ? Errc::truncated : Errc::out_of_range;
  return Error{code, offset,
               std::string{what} + ": " + std::to_string(length) + " bytes at " + hex(offset) +
                   ", but there are only " + std::to_string(data_.size())};
}

std::optional<std::string_view> Bytes::c_string(std::uint64_t offset) const {
  if (offset >= data_.size()) return std::nullopt;
  const std::string_view rest = as_text(data_.subspan(static_cast<std::size_t>(offset)));
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

bool Bytes::starts_with(std::uint64_t offset, std::string_view text) const {
  const auto part = try_slice(offset, text.size());
  return part && as_text(*part) == text;
}

std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ByteSpan as_bytes(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  do {
    text.push_back(digits[static_cast<std::size_t>(value & 15U)]);
    value >>= 4U;
  } while (value != 0);
  text += "x0";
  std::reverse(text.begin(), text.end());
  return text;
}

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string out;
  for (const char c : text.substr(0, longest)) out.push_back(c >= ' ' && c <= '~' ? c : '?');
  if (text.size() > longest) out += "...";
  return out;
}

}  // namespace sage::code_object
