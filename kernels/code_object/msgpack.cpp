#include "msgpack.hpp"

namespace sage::code_object {
namespace {
using Kind = MsgpackToken::Kind;
}

Error MsgpackReader::truncated() const {
  return Error{Errc::truncated, offset(), "metadata ends inside of a value"};
}

std::optional<std::uint64_t> MsgpackReader::big_endian(std::uint64_t length) {
  const auto bytes = data_.try_slice(position_, length);
  if (!bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (const std::byte byte : *bytes) value = (value << 8U) | static_cast<std::uint64_t>(byte);
  position_ += length;
  return value;
}

Result<MsgpackToken> MsgpackReader::with_payload(Kind kind, std::uint64_t length) {
  const auto bytes = data_.try_slice(position_, length);
  if (!bytes) return truncated();
  position_ += length;
  return MsgpackToken{kind, 0, as_text(*bytes)};
}

Result<MsgpackToken> MsgpackReader::container(Kind kind, std::uint64_t count) {
  // Each element takes at least one byte, so a count beyond the rest is a lie; found here, before anybody loops on it.
  const std::uint64_t rest = data_.size() - position_;
  const std::uint64_t least = kind == Kind::map ? count * 2 : count;  // count < 2^32: no overflow
  if (least > rest) {
    return Error{
        Errc::truncated, offset(),
        "a container of " + std::to_string(count) + " elements in " + std::to_string(rest) + " bytes of metadata"};
  }
  return MsgpackToken{kind, count, {}};
}

Result<MsgpackToken> MsgpackReader::next() {
  const auto lead = big_endian(1);
  if (!lead) return truncated();
  const std::uint64_t code = *lead;

  if (code <= 0x7f) return MsgpackToken{Kind::unsigned_int, code, {}};
  if (code <= 0x8f) return container(Kind::map, code & 0x0fU);
  if (code <= 0x9f) return container(Kind::array, code & 0x0fU);
  if (code <= 0xbf) return with_payload(Kind::text, code & 0x1fU);
  if (code >= 0xe0) return MsgpackToken{Kind::negative_int, code | ~std::uint64_t{0xff}, {}};

  // The formats with a length or value field of 1, 2, 4 or 8 bytes.
  const auto sized = [this](std::uint64_t bytes) { return big_endian(bytes); };
  switch (code) {
    case 0xc0:
      return MsgpackToken{Kind::nil, 0, {}};
    case 0xc2:
      return MsgpackToken{Kind::boolean, 0, {}};
    case 0xc3:
      return MsgpackToken{Kind::boolean, 1, {}};
    case 0xc4:
    case 0xc5:
    case 0xc6: {
      const auto length = sized(std::uint64_t{1} << (code - 0xc4));
      return length ? with_payload(Kind::binary, *length) : Result<MsgpackToken>{truncated()};
    }
    case 0xc7:
    case 0xc8:
    case 0xc9: {
      const auto length = sized(std::uint64_t{1} << (code - 0xc7));
      return length ? with_payload(Kind::extension, *length + 1) : Result<MsgpackToken>{truncated()};
    }
    case 0xca:
    case 0xcb: {
      const auto bits = sized(code == 0xca ? 4 : 8);
      return bits ? Result<MsgpackToken>{MsgpackToken{Kind::floating, *bits, {}}} : Result<MsgpackToken>{truncated()};
    }
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: {
      const auto value = sized(std::uint64_t{1} << (code - 0xcc));
      return value ? Result<MsgpackToken>{MsgpackToken{Kind::unsigned_int, *value, {}}}
                   : Result<MsgpackToken>{truncated()};
    }
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: {
      const std::uint64_t bytes = std::uint64_t{1} << (code - 0xd0);
      const auto raw = sized(bytes);
      if (!raw) return truncated();
      const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
      if ((*raw & sign) == 0) return MsgpackToken{Kind::unsigned_int, *raw, {}};
      return MsgpackToken{Kind::negative_int, *raw | ~((sign << 1U) - 1U), {}};
    }
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return with_payload(Kind::extension, (std::uint64_t{1} << (code - 0xd4)) + 1);
    case 0xd9:
    case 0xda:
    case 0xdb: {
      const auto length = sized(std::uint64_t{1} << (code - 0xd9));
      return length ? with_payload(Kind::text, *length) : Result<MsgpackToken>{truncated()};
    }
    case 0xdc:
    case 0xdd: {
      const auto count = sized(code == 0xdc ? 2 : 4);
      return count ? container(Kind::array, *count) : Result<MsgpackToken>{truncated()};
    }
    case 0xde:
    case 0xdf: {
      const auto count = sized(code == 0xde ? 2 : 4);
      return count ? container(Kind::map, *count) : Result<MsgpackToken>{truncated()};
    }
    default:
      return Error{Errc::malformed, offset() - 1, "byte 0xc1, which MessagePack never uses"};
  }
}

std::optional<Error> MsgpackReader::skip() {
  // Open values still to be read. Every container was checked to fit into the rest of the data, so the sum of all
  // counts is bounded by (bytes)^2 at the very worst and each step consumes a byte: linear time, no overflow.
  std::uint64_t open = 1;
  while (open != 0) {
    const auto token = next();
    if (!token) return token.error();
    --open;
    if (token->kind == Kind::array) open += token->number;
    if (token->kind == Kind::map) open += token->number * 2;
  }
  return std::nullopt;
}

}  // namespace sage::code_object
