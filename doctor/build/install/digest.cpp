#include "doctor/build/install/digest.hpp"

#include <sha2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "probes/base/text.hpp"

namespace sage {
namespace {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_LENGTH>;

Digest sha256(std::string_view bytes) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  Digest digest{};
  SHA256Final(digest.data(), &context);
  return digest;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::string text;
  for (const std::uint8_t byte : sha256(bytes)) text += hex(byte, 2);
  return text;
}

std::string sha256_base64url(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::uint8_t byte : sha256(bytes)) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 6; count -= 6) text += letters[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += letters[(bits << (6 - count)) & 63];
  return text;
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 2 * std::size_t{SHA256_DIGEST_LENGTH} &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace sage
