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

using ZstdStream = std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)>;

// Null when zstd does not start.
ZstdStream start_zstd() {
  ZstdStream stream{ZSTD_createDStream(), ZSTD_freeDStream};
  if (stream == nullptr || ZSTD_isError(ZSTD_initDStream(stream.get())) != 0) return {nullptr, ZSTD_freeDStream};
  // The frame's window is a claim too: 2^27 bytes is zstd's own limit for streams, made explicit.
  if (ZSTD_isError(ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 27)) != 0)
    return {nullptr, ZSTD_freeDStream};
  return stream;
}

std::optional<Error> inflate_zstd(ByteSpan input, Output& output) {
  const ZstdStream stream = start_zstd();
  if (stream == nullptr) return corrupt("zstd does not start");
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

// The starts: they fill `out` as far as the input goes, and cut it to what came.

std::optional<Error> start_of_zlib(ByteSpan input, std::vector<std::byte>& out) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return corrupt("zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer{&stream, inflateEnd};
  constexpr std::size_t most = std::numeric_limits<uInt>::max() / 2;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
  stream.avail_in = static_cast<uInt>(std::min(input.size(), most));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(std::min(out.size(), most));
  int status = Z_OK;
  while (status == Z_OK && stream.avail_out != 0) status = inflate(&stream, Z_SYNC_FLUSH);
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return corrupt("zlib stream is damaged");
  out.resize(static_cast<std::size_t>(reinterpret_cast<std::byte*>(stream.next_out) - out.data()));
  return std::nullopt;
}

std::optional<Error> start_of_zstd(ByteSpan input, std::vector<std::byte>& output) {
  const ZstdStream stream = start_zstd();
  if (stream == nullptr) return corrupt("zstd does not start");
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  ZSTD_outBuffer out{output.data(), output.size(), 0};
  std::size_t rest = 1;
  while (rest != 0 && out.pos < out.size) {
    const std::size_t read_before = in.pos;
    const std::size_t made_before = out.pos;
    rest = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(rest) != 0) return corrupt(std::string{"zstd: "} + ZSTD_getErrorName(rest));
    if (in.pos == read_before && out.pos == made_before) break;
  }
  output.resize(out.pos);
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::byte>> decompress_start(ByteSpan start, std::size_t wanted) {
  const auto header = read_compressed_header(start);
  if (!header) return header.error();
  const ByteSpan stream = start.subspan(std::min<std::size_t>(header->header_size, start.size()));
  std::vector<std::byte> out(std::min<std::uint64_t>(wanted, header->uncompressed_size));
  const auto error =
      header->method == CompressionMethod::zlib ? start_of_zlib(stream, out) : start_of_zstd(stream, out);
  if (error) return *error;
  return out;
}

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
