// Apart from decompress.cpp so that the kernels' runtime can tell a compressed bundle from garbage without needing the
// compression libraries.
#include "compressed_bundle.hpp"

namespace sage::code_object {

Result<CompressedHeader> read_compressed_header(ByteSpan start) {
  constexpr std::uint64_t version_at = 4;
  constexpr std::uint64_t method_at = 6;
  constexpr std::uint64_t sizes_at = 8;
  const Bytes bytes{start};
  constexpr std::string_view magic = "CCOB";
  if (!bytes.starts_with(0, magic)) {
    const bool prefix = start.size() < magic.size() && magic.starts_with(as_text(start));
    return Error{prefix ? Errc::truncated : Errc::bad_magic, 0, "not a compressed offload bundle"};
  }
  const auto version = bytes.u16(version_at);
  const auto method = bytes.u16(method_at);
  if (!version || !method) return Error{Errc::truncated, bytes.size(), "compressed bundle: header cut off"};
  if (*version < 1 || *version > 3)
    return Error{Errc::unsupported, version_at, "compressed bundle of version " + std::to_string(*version)};
  if (*method > 1) return Error{Errc::unsupported, method_at, "compression method " + std::to_string(*method)};

  CompressedHeader header;
  header.version = *version;
  header.method = static_cast<CompressionMethod>(*method);
  std::optional<std::uint64_t> total;
  std::optional<std::uint64_t> uncompressed;
  std::optional<std::uint64_t> hash;
  if (*version == 3) {
    total = bytes.u64(sizes_at);
    uncompressed = bytes.u64(sizes_at + 8);
    hash = bytes.u64(sizes_at + 16);
    header.header_size = sizes_at + 24;
  } else if (*version == 2) {
    total = bytes.u32(sizes_at);
    uncompressed = bytes.u32(sizes_at + 4);
    hash = bytes.u64(sizes_at + 8);
    header.header_size = sizes_at + 16;
  } else {
    uncompressed = bytes.u32(sizes_at);
    hash = bytes.u64(sizes_at + 4);
    header.header_size = sizes_at + 12;
  }
  if (!uncompressed || !hash) return Error{Errc::truncated, bytes.size(), "compressed bundle: header cut off"};
  header.uncompressed_size = *uncompressed;
  header.hash = *hash;
  if (total && *total < header.header_size)
    return Error{Errc::malformed, sizes_at,
                 "compressed bundle of " + std::to_string(*total) + " bytes, less than its header"};
  header.total_size = total;
  return header;
}

}  // namespace sage::code_object
