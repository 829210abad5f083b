// A read-only view of untrusted bytes. Every read names an absolute offset and is checked without arithmetic that can
// wrap: `offset <= size && length <= size - offset`. Multi-byte values are little-endian in every format read here
// (AMDGPU ELF, notes, descriptors, offload bundles), whatever the host is, except MessagePack, which is big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "result.hpp"

namespace sage::code_object {

using ByteSpan = std::span<const std::byte>;

class Bytes {
 public:
  explicit Bytes(ByteSpan data) : data_{data} {}

  [[nodiscard]] std::uint64_t size() const { return data_.size(); }
  [[nodiscard]] ByteSpan span() const { return data_; }
  [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t length) const {
    return offset <= data_.size() && length <= data_.size() - offset;
  }

  // Empty when out of range: for places where the caller has one error message for several reads.
  [[nodiscard]] std::optional<ByteSpan> try_slice(std::uint64_t offset, std::uint64_t length) const;
  [[nodiscard]] std::optional<std::uint8_t> u8(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::uint16_t> u16(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::uint32_t> u32(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::uint64_t> u64(std::uint64_t offset) const;

  // `what` becomes part of the message: "section header table: 640 bytes at 0x1f00, file has 7000".
  [[nodiscard]] Result<ByteSpan> slice(std::uint64_t offset, std::uint64_t length, std::string_view what) const;

  // The NUL-terminated text at `offset`; empty when it is out of range or not terminated inside of the view.
  [[nodiscard]] std::optional<std::string_view> c_string(std::uint64_t offset) const;

  [[nodiscard]] bool starts_with(std::uint64_t offset, std::string_view text) const;

 private:
  ByteSpan data_;
};

[[nodiscard]] std::string_view as_text(ByteSpan bytes);
[[nodiscard]] ByteSpan as_bytes(std::string_view text);
[[nodiscard]] std::string hex(std::uint64_t value);

// Text out of an untrusted file, made fit for a message: printable ASCII only, shortened.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace sage::code_object
