#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string_view>

#include "compressed_bundle.hpp"

namespace sage::code_object {
namespace {

constexpr std::size_t step = std::size_t{1} << 18U;

Error corrupt(std::string_view why) {
  return Error{Errc::bad_compression, 0, "compressed bundle: " + std::string{why}};
}

struct Output {
  std::vector<std::byte> bytes;
  std::uint64_t expected;

  // False when the stream gives more than its header announces.
  [[nodiscard]] bool append(ByteSpan more) {
    if (more.size() > expected - bytes.size()) return false;
    bytes.insert(bytes.end(), more.begin(), more.end());
    return true;
  }
};

std::optional<Error> inflate_zlib(ByteSpan input, Output& output) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return corrupt("zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer{&stream, inflateEnd};
  std::vector<std::byte> buffer(step);
  int status = Z_OK;
  std::size_t consumed = 0;
  while (status != Z_STREAM_END) {
    // zlib counts its input in 32 bits.
    if (stream.avail_in == 0) {
      const std::size_t part = std::min<std::size_t>(input.size() - consumed, std::numeric_limits<uInt>::max() / 2);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data() + consumed));
      stream.avail_in = static_cast<uInt>(part);
      consumed += part;
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END)
      return corrupt(status == Z_BUF_ERROR ? "zlib stream ends early" : "zlib stream is damaged");
    const ByteSpan made{buffer.data(), buffer.size() - stream.avail_out};
    if (!output.append(made)) return corrupt("more data than the header announces");
  }
  return std::nullopt;
}

std::optional<Error> inflate_zstd(ByteSpan input, Output& output) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream{ZSTD_createDStream(), ZSTD_freeDStream};
  if (stream == nullptr || ZSTD_isError(ZSTD_initDStream(stream.get())) != 0) return corrupt("zstd does not start");
  // The frame's window is a claim too: 2^27 bytes is zstd's own limit for streams, made explicit.
  if (ZSTD_isError(ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 27)) != 0)
    return corrupt("zstd does not start");
  std::vector<std::byte> buffer(step);
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  std::size_t rest = 1;
  while (rest != 0) {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    rest = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(rest) != 0) return corrupt(std::string{"zstd: "} + ZSTD_getErrorName(rest));
    if (!output.append({buffer.data(), out.pos})) return corrupt("more data than the header announces");
    if (rest != 0 && in.pos == in.size && out.pos < out.size) return corrupt("zstd stream ends early");
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::byte>> decompress_bundle(ByteSpan bundle, std::uint64_t cap) {
  const auto header = read_compressed_header(bundle);
  if (!header) return header.error();
  const std::uint64_t total = header->total_size.value_or(bundle.size());
  if (total > bundle.size())
    return Error{Errc::truncated, 8,
                 "compressed bundle of " + std::to_string(total) + " bytes in " + std::to_string(bundle.size())};
  if (header->uncompressed_size > cap) {
    return Error{Errc::too_large, 8,
                 "compressed bundle announces " + std::to_string(header->uncompressed_size) + " bytes, the cap is " +
                     std::to_string(cap)};
  }
  const auto stream = Bytes{bundle}.slice(header->header_size, total - header->header_size, "compressed stream");
  if (!stream) return stream.error();
  Output output{{}, header->uncompressed_size};
  const auto error =
      header->method == CompressionMethod::zlib ? inflate_zlib(*stream, output) : inflate_zstd(*stream, output);
  if (error) return *error;
  if (output.bytes.size() != header->uncompressed_size) {
    return corrupt("gives " + std::to_string(output.bytes.size()) + " bytes, the header announces " +
                   std::to_string(header->uncompressed_size));
  }
  return std::move(output.bytes);
}

}  // namespace sage::code_object
