// A pull reader for MessagePack. It builds no tree: a metadata note of a big library has millions of values, nearly all
// of them arguments that nobody asks for, and a hostile one could announce four thousand million of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "bytes.hpp"

namespace sage::code_object {

struct MsgpackToken {
  enum class Kind : std::uint8_t {
    nil,
    boolean,
    unsigned_int,
    negative_int,
    floating,
    text,
    binary,
    extension,
    array,
    map
  };
  Kind kind = Kind::nil;
  std::uint64_t number = 0;  // the value; for negative_int its two's complement; for array and map the number of
                             // elements (a map has as many keys as values)
  std::string_view text;     // of text, binary and extension
};

class MsgpackReader {
 public:
  // `base` is the position of `data` in the file, for messages.
  MsgpackReader(ByteSpan data, std::uint64_t base) : data_{data}, base_{base} {}

  [[nodiscard]] bool at_end() const { return position_ == data_.size(); }
  [[nodiscard]] std::uint64_t offset() const { return base_ + position_; }

  // The next value; of a container only its head, its elements follow.
  [[nodiscard]] Result<MsgpackToken> next();

  // Passes over one whole value, however deeply nested, without recursion.
  [[nodiscard]] std::optional<Error> skip();

 private:
  [[nodiscard]] std::optional<std::uint64_t> big_endian(std::uint64_t length);
  [[nodiscard]] Result<MsgpackToken> with_payload(MsgpackToken::Kind kind, std::uint64_t length);
  [[nodiscard]] Result<MsgpackToken> container(MsgpackToken::Kind kind, std::uint64_t count);
  [[nodiscard]] Error truncated() const;

  Bytes data_;
  std::uint64_t base_;
  std::uint64_t position_ = 0;
};

}  // namespace sage::code_object
