#include "probes/host/bundle_walk.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "probes/base/text.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/elf_reader.hpp"
#include "tests/support/elf_section.hpp"

namespace sage {
namespace {

using test::Buffer;

constexpr std::size_t header_sizes[] = {0, 20, 24, 32};

Buffer plain_bundle(const std::vector<std::string>& targets, std::size_t bytes_each = 100) {
  std::vector<test::BundleSpecEntry> entries = {{"host-x86_64-unknown-linux--", {}}};
  for (const std::string& target : targets) {
    entries.push_back({"hipv4-amdgcn-amd-amdhsa--" + target, Buffer(bytes_each, std::byte{7})});
  }
  return test::build_bundle(entries);
}

Buffer zstd(const Buffer& in) {
  Buffer out(ZSTD_compressBound(in.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3));
  return out;
}

Buffer zlib(const Buffer& in) {
  uLongf size = compressBound(in.size());
  Buffer out(size);
  REQUIRE(compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(in.data()), in.size()) ==
          Z_OK);
  out.resize(size);
  return out;
}

Buffer compressed(unsigned version, unsigned method, const Buffer& plain) {
  const Buffer body = method == 0 ? zlib(plain) : zstd(plain);
  return test::build_compressed(version, method, header_sizes[version] + body.size(), plain.size(), body);
}

void append(Buffer& all, const Buffer& more, std::size_t alignment = 4096) {
  test::pad_to(all, alignment);
  all.insert(all.end(), more.begin(), more.end());
}

/// A walk over bytes in memory that stand at `offset` of a file.
struct Walked {
  BundleWalk walk;
  std::size_t reads = 0;
  std::uint64_t bytes = 0;
};

Walked walk(const Buffer& bytes, const BundleWalkLimits& limits = {}, std::uint64_t offset = 4096) {
  Walked walked;
  const ReadPiece read = [&](std::uint64_t at, std::size_t count) -> Result<std::string> {
    ++walked.reads;
    REQUIRE(at >= offset);
    const std::size_t from = std::min<std::size_t>(at - offset, bytes.size());
    const std::size_t length = std::min(count, bytes.size() - from);
    walked.bytes += length;
    return std::string(reinterpret_cast<const char*>(bytes.data()) + from, length);
  };
  walked.walk = walk_bundles(read, offset, bytes.size(), limits);
  return walked;
}

Result<ElfFacts> read_bytes(const std::string& bytes) {
  const Descriptor file(memfd_create("elf", MFD_CLOEXEC));
  REQUIRE(write(file.number(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ElfQuery query;
  query.device_code = true;
  return read_elf(file.number(), query);
}

}  // namespace

TEST_CASE("bundles behind one another are listed from their tables alone") {
  Buffer section = plain_bundle({"gfx1201", "gfx90a:xnack-"}, 1 << 20);
  append(section, plain_bundle({"gfx1100"}, 1 << 20));
  append(section, compressed(3, 1, plain_bundle({"gfx1201", "gfx942"}, 1 << 16)));
  append(section, compressed(2, 0, plain_bundle({"gfx1030"})), 8);  // not every linker script aligns to a page
  append(section, test::build_bundle({{"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", Buffer(8)}}));
  test::pad_to(section, 4096);
  const Walked walked = walk(section);
  CHECK(walked.walk.incomplete.empty());
  REQUIRE(walked.walk.bundles.size() == 5);
  CHECK(walked.walk.bundles[0].offset == 4096);
  CHECK(walked.walk.bundles[0].entries.size() == 3);
  CHECK(walked.walk.bundles[2].compressed);
  CHECK(walked.walk.bundles[2].plain_size == plain_bundle({"gfx1201", "gfx942"}, 1 << 16).size());
  CHECK(bundled_targets(walked.walk) ==
        std::vector<std::string>{"amdgcnspirv", "gfx1030", "gfx1100", "gfx1201", "gfx90a:xnack-", "gfx942"});
  CHECK(walked.reads < 12);
  CHECK(walked.bytes < 256 * 1024);
}

TEST_CASE("every version and method of compressed bundles is listed, and only version 1 may hide more") {
  for (const unsigned version : {1u, 2u, 3u}) {
    for (const unsigned method : {0u, 1u}) {
      CAPTURE(version);
      CAPTURE(method);
      const Walked walked = walk(compressed(version, method, plain_bundle({"gfx1201", "gfx1100"}, 500'000)));
      CHECK(bundled_targets(walked.walk) == std::vector<std::string>{"gfx1100", "gfx1201"});
      CHECK(walked.walk.incomplete.empty() == (version != 1));
    }
  }
}

TEST_CASE("a compressed table behind a whole block of noise is found by reading on") {
  // zstd gives nothing before the block is complete; noise keeps the block as long as it is.
  std::vector<test::BundleSpecEntry> entries = {{"hipv4-amdgcn-amd-amdhsa--gfx1201", Buffer(200'000)}};
  std::uint32_t state = 1;
  for (std::byte& byte : entries[0].contents) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24u);
  }
  const Walked walked = walk(compressed(3, 1, test::build_bundle(entries)));
  CHECK(walked.walk.incomplete.empty());
  CHECK(bundled_targets(walked.walk) == std::vector<std::string>{"gfx1201"});
}

TEST_CASE("a bundle cut off anywhere is incomplete and never more than what is there") {
  Buffer section = plain_bundle({"gfx1201"}, 300);
  const std::size_t first = section.size();
  append(section, compressed(3, 1, plain_bundle({"gfx1100"}, 300)));
  REQUIRE(walk(section).walk.incomplete.empty());
  for (std::size_t size = 0; size < section.size(); size += 7) {
    CAPTURE(size);
    const Buffer part(section.begin(), section.begin() + static_cast<std::ptrdiff_t>(size));
    const BundleWalk found = walk(part).walk;
    const bool between = size == 0 || (size >= first && size <= 8192);
    CHECK(found.incomplete.empty() == between);
    CHECK(found.bundles.size() <= 2);
  }
}

TEST_CASE("a file that becomes shorter while it is read ends the walk") {
  const Buffer section = plain_bundle({"gfx1201"}, 300);
  const ReadPiece read = [&](std::uint64_t at, std::size_t count) -> Result<std::string> {
    const std::string all = test::text_of(section);
    return at >= all.size() ? std::string() : all.substr(at, count);
  };
  const BundleWalk found = walk_bundles(read, 0, 1 << 30);
  CHECK(contains(found.incomplete, "the file ends"));
  CHECK(bundled_targets(found) == std::vector<std::string>{"gfx1201"});
}

TEST_CASE("a reader's error ends the walk with its reason") {
  const ReadPiece read = [](std::uint64_t, std::size_t) -> Result<std::string> { return Error{5, "the disk is gone"}; };
  CHECK(walk_bundles(read, 0, 4096).incomplete == "the disk is gone");
}

TEST_CASE("sizes and counts that lie are told and cost nothing") {
  const Buffer good = plain_bundle({"gfx1201"}, 100);
  const auto with = [&](std::size_t at, std::uint64_t value) {
    Buffer bad = good;
    test::put_at(bad, at, value);
    return walk(bad).walk;
  };
  const std::size_t second_entry = 32 + 24 + std::string_view("host-x86_64-unknown-linux--").size();
  CHECK_FALSE(with(24, UINT64_MAX).incomplete.empty());  // number of entries
  CHECK_FALSE(with(24, 0xffffffff).incomplete.empty());
  CHECK_FALSE(with(second_entry, UINT64_MAX - 50).incomplete.empty());             // offset: wraps around with the size
  CHECK_FALSE(with(second_entry + 8, std::uint64_t{1} << 40).incomplete.empty());  // size
  CHECK_FALSE(with(second_entry + 16, UINT64_MAX).incomplete.empty());             // length of the id
  CHECK_FALSE(with(0, 0).incomplete.empty());                                      // magic
  for (const std::uint64_t total : {std::uint64_t{0}, std::uint64_t{31}, std::uint64_t{1} << 40, UINT64_MAX}) {
    const Buffer body = zstd(good);
    CHECK_FALSE(walk(test::build_compressed(3, 1, total, good.size(), body)).walk.incomplete.empty());
  }
}

TEST_CASE("an empty bundle does not stop the walk, and many of them are cut at the limit") {
  Buffer section = test::build_bundle({});
  append(section, plain_bundle({"gfx1201"}));
  CHECK(bundled_targets(walk(section).walk) == std::vector<std::string>{"gfx1201"});

  Buffer many;
  for (int i = 0; i < 100; ++i) append(many, test::build_bundle({}), 1);
  BundleWalkLimits limits;
  limits.bundles = 50;
  const BundleWalk found = walk(many, limits).walk;
  CHECK(found.bundles.size() == 50);
  CHECK_FALSE(found.incomplete.empty());
  limits = {};
  limits.bytes = 100'000;
  CHECK(walk(many, limits).bytes <= 100'000);
  CHECK_FALSE(walk(many, limits).walk.incomplete.empty());
}

TEST_CASE("a compression bomb gives its table and no more") {
  Buffer plain = plain_bundle({"gfx1201"});
  plain.resize(64 << 20);  // zeros: 2 KiB of zstd
  const Buffer section = compressed(3, 1, plain);
  REQUIRE(section.size() < 64 * 1024);
  const Walked walked = walk(section);
  CHECK(walked.bytes <= section.size());
  CHECK(bundled_targets(walked.walk) == std::vector<std::string>{"gfx1201"});
}

TEST_CASE("a damaged stream hides its own targets, not those of the bundles behind it") {
  Buffer section = compressed(3, 1, plain_bundle({"gfx1201"}));
  section[40] = std::byte{0xff};
  section[41] = std::byte{0xff};
  append(section, plain_bundle({"gfx1100"}));
  const BundleWalk found = walk(section).walk;
  CHECK_FALSE(found.incomplete.empty());
}

TEST_CASE("targets that are no plain words are left out") {
  const BundleWalk found = walk(test::build_bundle({{"hip-amdgcn-amd-amdhsa--gfx1201\x1b[31m", Buffer(4)},
                                                    {"hip-amdgcn-amd-amdhsa--" + std::string(500, 'x'), Buffer(4)},
                                                    {"hip-amdgcn-amd-amdhsa--gfx1100", Buffer(4)}}))
                               .walk;
  CHECK(bundled_targets(found) == std::vector<std::string>{"gfx1100"});
}

TEST_CASE("every changed byte of a section of bundles is survived") {
  Buffer section = plain_bundle({"gfx1201"}, 60);
  append(section, compressed(2, 1, plain_bundle({"gfx1100"}, 60)));
  for (std::size_t i = 0; i < section.size(); ++i) {
    if (section[i] == std::byte{0} && i > 200 && i % 64 != 0) continue;
    for (const int change : {0x01, 0x80, 0xff}) {
      Buffer bad = section;
      bad[i] ^= static_cast<std::byte>(change);
      CHECK(walk(bad).walk.bundles.size() <= 2);
    }
  }
}

TEST_CASE("an ELF file tells the targets of its .hip_fatbin") {
  Buffer section = plain_bundle({"gfx1201"});
  append(section, compressed(3, 1, plain_bundle({"gfx90a:xnack+"})));
  const auto facts = read_bytes(test::library_with_section(section));
  REQUIRE_MESSAGE(facts.ok(), facts.error().text);
  CHECK(facts->device_code == ElfDeviceCode{true, true, true, {"gfx1201", "gfx90a:xnack+"}});

  const auto other = read_bytes(test::library_with_section(section, {".hip_fatbin2"}));
  REQUIRE(other.ok());
  CHECK_FALSE(other->device_code.has_value());
}

TEST_CASE("a .hip_fatbin without bytes says that the code lies elsewhere") {
  const auto facts = read_bytes(test::library_with_section(Buffer(4096), {".hip_fatbin", 8}));
  REQUIRE(facts.ok());
  CHECK(facts->device_code == ElfDeviceCode{false, false, true, {}});
}

TEST_CASE("a .hip_fatbin outside the file is an error, one with unknown contents is incomplete") {
  CHECK_FALSE(read_bytes(test::library_with_section(plain_bundle({"gfx1201"}), {".hip_fatbin", 1, 1 << 20})).ok());
  CHECK_FALSE(
      read_bytes(test::library_with_section(plain_bundle({"gfx1201"}), {".hip_fatbin", 1, UINT64_MAX - 65536})).ok());
  const auto facts = read_bytes(test::library_with_section(Buffer(4096, std::byte{1})));
  REQUIRE(facts.ok());
  CHECK(facts->device_code == ElfDeviceCode{true, false, false, {}});
}

}  // namespace sage
