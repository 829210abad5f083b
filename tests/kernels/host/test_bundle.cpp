#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include "code_object/bundle.hpp"
#include "code_object/compressed_bundle.hpp"
#include "elf_builder.hpp"

using namespace sage::code_object;
using namespace sage::test;

namespace {

Buffer with_zlib(const Buffer& in) {
  uLongf size = compressBound(static_cast<uLong>(in.size()));
  Buffer out(size);
  REQUIRE(compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(in.data()),
                   static_cast<uLong>(in.size())) == Z_OK);
  out.resize(size);
  return out;
}

Buffer with_zstd(const Buffer& in) {
  Buffer out(ZSTD_compressBound(in.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3);
  REQUIRE(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

Buffer sample_bundle() {
  return build_bundle({{"host-x86_64-unknown-linux--", {}},
                       {"hipv4-amdgcn-amd-amdhsa--gfx1201", build_object().file},
                       {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", Buffer(100, std::byte{7})}});
}

constexpr std::size_t header_sizes[] = {0, 20, 24, 32};

Buffer compressed(unsigned version, unsigned method, const Buffer& plain) {
  const Buffer body = method == 0 ? with_zlib(plain) : with_zstd(plain);
  return build_compressed(version, method, header_sizes[version] + body.size(), plain.size(), body);
}

}  // namespace

TEST_CASE("ids of entries") {
  const auto target = [](std::string_view id) { return parse_bundle_id(id).target; };
  CHECK(target("hipv4-amdgcn-amd-amdhsa--gfx1030") == "gfx1030");
  CHECK(target("hip-amdgcn-amd-amdhsa-unknown-gfx1030") == "gfx1030");
  CHECK(target("hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-") == "gfx90a:sramecc+:xnack-");
  CHECK(target("hip-amdgcn-amd-amdhsa-gfx900") == "gfx900");
  CHECK(target("hip-amdgcn-amd-amdhsa-gfx12-generic") == "gfx12-generic");
  CHECK(target("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic:xnack-") == "gfx9-4-generic:xnack-");
  CHECK(target("hip-spirv64-amd-amdhsa-unknown-amdgcnspirv") == "amdgcnspirv");
  CHECK(target("host-x86_64-unknown-linux-gnu-") == "");
  CHECK(target("host-x86_64-unknown-linux") == "");
  CHECK(target("") == "");
  CHECK(parse_bundle_id("hip-spirv64-amd-amdhsa-unknown-amdgcnspirv").processor == "spirv64");
  CHECK(parse_bundle_id("host-x86_64-unknown-linux--").kind == "host");
}

TEST_CASE("a plain bundle is listed and its entries are found") {
  const Buffer bundle = sample_bundle();
  const auto table = read_bundle_table(bundle, bundle.size());
  REQUIRE(table.ok());
  REQUIRE(table->entries.size() == 3);
  CHECK(table->entries[0].size == 0);
  CHECK(table->entries[1].parsed().target == "gfx1201");
  CHECK(table->size == bundle.size());
  const auto contents = bundle_contents(bundle, table->entries[1]);
  REQUIRE(contents.ok());
  CHECK(contents->size() == build_object().file.size());
}

TEST_CASE("the table can be read from the first kilobytes of a huge file") {
  Buffer bundle = sample_bundle();
  const std::uint64_t whole = bundle.size();
  for (std::size_t length = 0; length < 256; ++length) {
    const Buffer start(bundle.begin(), bundle.begin() + static_cast<std::ptrdiff_t>(length));
    const auto table = read_bundle_table(start, whole);
    if (!table.ok())
      CHECK(table.error().code == Errc::truncated);
    else
      CHECK(table->entries.size() == 3);
  }
  bundle.resize(256);
  CHECK(read_bundle_table(bundle, whole).ok());
}

TEST_CASE("bundles that lie") {
  const Buffer bundle = sample_bundle();
  const auto code = [](const Buffer& bytes) {
    const auto table = read_bundle_table(bytes, bytes.size());
    REQUIRE_FALSE(table.ok());
    return table.error().code;
  };
  const std::size_t second_entry = 32 + 24 + 27;
  const auto with = [&](std::size_t at, std::uint64_t value) {
    Buffer bytes = bundle;
    put_at(bytes, at, value);
    return code(bytes);
  };
  CHECK(with(0, 0) == Errc::bad_magic);
  CHECK(with(24, ~std::uint64_t{0}) == Errc::too_large);
  CHECK(with(24, 65537) == Errc::too_large);
  CHECK(with(24, 65536) == Errc::out_of_range);
  CHECK(with(second_entry, ~std::uint64_t{0} - 10) == Errc::out_of_range);
  CHECK(with(second_entry, bundle.size()) == Errc::out_of_range);
  CHECK(with(second_entry, 40) == Errc::out_of_range);  // inside of the table
  CHECK(with(second_entry + 8, ~std::uint64_t{0}) == Errc::out_of_range);
  CHECK(with(second_entry + 8, bundle.size()) == Errc::out_of_range);
  CHECK(with(second_entry + 16, ~std::uint64_t{0}) == Errc::too_large);
  CHECK(with(second_entry + 16, 4097) == Errc::too_large);
}

TEST_CASE("a section with several bundles") {
  Buffer section = sample_bundle();
  pad_to(section, 4096);
  const std::size_t second = section.size();
  const Buffer packed = compressed(2, 1, sample_bundle());
  section.insert(section.end(), packed.begin(), packed.end());
  pad_to(section, 4096);
  const std::size_t third = section.size();
  const Buffer last = sample_bundle();
  section.insert(section.end(), last.begin(), last.end());
  section.resize(section.size() + 100);
  const auto found = find_bundles(section);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  REQUIRE(found->size() == 3);
  CHECK((*found)[1].offset == second);
  CHECK((*found)[1].kind == BundleKind::compressed);
  CHECK((*found)[1].size == packed.size());
  CHECK((*found)[2].offset == third);

  section[section.size() - 1] = std::byte{1};
  const auto garbage = find_bundles(section);
  REQUIRE_FALSE(garbage.ok());
  CHECK(garbage.error().offset == section.size() - 1);
  CHECK_FALSE(find_bundles(Buffer(5000)).ok());
  CHECK_FALSE(find_bundles(Buffer{}).ok());
}

TEST_CASE("compressed bundles of every version and method") {
  const Buffer plain = sample_bundle();
  for (const unsigned version : {1U, 2U, 3U}) {
    for (const unsigned method : {0U, 1U}) {
      Buffer packed = compressed(version, method, plain);
      const auto unpacked = decompress_bundle(packed);
      REQUIRE_MESSAGE(unpacked.ok(), unpacked.error().message);
      CHECK(*unpacked == plain);
      const auto header = read_compressed_header(packed);
      CHECK(header->hash == 0x0123456789abcdef);
    }
  }
}

TEST_CASE("compressed bundles cut off after every byte") {
  for (const unsigned method : {0U, 1U}) {
    const Buffer packed = compressed(3, method, sample_bundle());
    for (std::size_t length = 0; length < packed.size(); ++length) {
      const Buffer part(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
      CHECK_FALSE(decompress_bundle(part).ok());
      // The same stream, cut off, behind a header that agrees with the cut.
      if (length < 32) continue;
      Buffer agreed = part;
      put_at(agreed, 8, static_cast<std::uint64_t>(length));
      CHECK_FALSE(decompress_bundle(agreed).ok());
    }
  }
}

TEST_CASE("compressed bundles that lie about their size") {
  const Buffer plain = sample_bundle();
  for (const unsigned method : {0U, 1U}) {
    const Buffer body = method == 0 ? with_zlib(plain) : with_zstd(plain);
    const auto code = [&](std::uint64_t total, std::uint64_t uncompressed) {
      const auto unpacked = decompress_bundle(build_compressed(3, method, total, uncompressed, body));
      REQUIRE_FALSE(unpacked.ok());
      return unpacked.error().code;
    };
    const std::uint64_t total = 32 + body.size();
    CHECK(code(total, plain.size() - 1) == Errc::bad_compression);
    CHECK(code(total, plain.size() + 1) == Errc::bad_compression);
    CHECK(code(total, ~std::uint64_t{0}) == Errc::too_large);
    CHECK(code(total, default_decompression_cap) == Errc::bad_compression);
    CHECK(code(total + 1, plain.size()) == Errc::truncated);
    CHECK(code(~std::uint64_t{0}, plain.size()) == Errc::truncated);
    CHECK(code(31, plain.size()) == Errc::malformed);
    CHECK(code(32, plain.size()) == Errc::bad_compression);
  }
  CHECK(decompress_bundle(build_compressed(4, 0, 0, 0, {})).error().code == Errc::unsupported);
  CHECK(decompress_bundle(build_compressed(0, 0, 0, 0, {})).error().code == Errc::unsupported);
  CHECK(decompress_bundle(build_compressed(2, 2, 0, 0, {})).error().code == Errc::unsupported);
}

TEST_CASE("bombs stop at what the header announces and at the cap") {
  const Buffer zeros(std::size_t{64} << 20U);
  for (const unsigned method : {0U, 1U}) {
    const Buffer body = method == 0 ? with_zlib(zeros) : with_zstd(zeros);
    REQUIRE(body.size() < zeros.size() / 100);
    const std::uint64_t total = 32 + body.size();
    const auto small_claim = decompress_bundle(build_compressed(3, method, total, 4096, body));
    REQUIRE_FALSE(small_claim.ok());
    CHECK(small_claim.error().code == Errc::bad_compression);
    const auto over_cap = decompress_bundle(build_compressed(3, method, total, zeros.size(), body), zeros.size() - 1);
    REQUIRE_FALSE(over_cap.ok());
    CHECK(over_cap.error().code == Errc::too_large);
    CHECK(decompress_bundle(build_compressed(3, method, total, zeros.size(), body), zeros.size()).ok());
  }
}
