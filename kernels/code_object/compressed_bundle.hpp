// Compressed offload bundles ("CCOB"): a header and a zlib or zstd stream that holds a plain bundle.
//
// The header's uncompressed size is a claim. Memory grows with what the stream really gives, in steps; the stream is
// stopped as soon as it gives more than the claim or the cap, so neither a small bomb (kilobytes that become gigabytes)
// nor a lying header (a claim of 2^63 bytes in front of nothing) costs more than the cap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bytes.hpp"

namespace sage::code_object {

enum class CompressionMethod : std::uint8_t { zlib = 0, zstd = 1 };

struct CompressedHeader {
  unsigned version = 0;
  CompressionMethod method = CompressionMethod::zlib;
  std::uint64_t header_size = 0;
  std::optional<std::uint64_t> total_size;  // header included; version 1 does not say
  std::uint64_t uncompressed_size = 0;
  std::uint64_t hash = 0;  // of the uncompressed bytes; not verified: the function is not documented
};

// Needs the first 32 bytes. Versions 1 to 3.
[[nodiscard]] Result<CompressedHeader> read_compressed_header(ByteSpan start);

constexpr std::uint64_t default_decompression_cap = std::uint64_t{1} << 30U;

// `bundle` starts at the magic; bytes behind its total size are ignored.
[[nodiscard]] Result<std::vector<std::byte>> decompress_bundle(ByteSpan bundle,
                                                               std::uint64_t cap = default_decompression_cap);

// What the first bytes of a compressed bundle give, at most `wanted` bytes: enough for the table of a bundle that is not
// read as a whole. Fewer, even none, when `start` holds too little of the stream.
[[nodiscard]] Result<std::vector<std::byte>> decompress_start(ByteSpan start, std::size_t wanted);

}  // namespace sage::code_object
