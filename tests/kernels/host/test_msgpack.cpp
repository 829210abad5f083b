#include <doctest/doctest.h>

#include <initializer_list>

#include "code_object/metadata.hpp"
#include "code_object/msgpack.hpp"
#include "elf_builder.hpp"

using namespace sage::code_object;
using sage::test::Buffer;
using Kind = MsgpackToken::Kind;

namespace {

Buffer raw(std::initializer_list<int> values) {
  Buffer out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

Result<MsgpackToken> first(const Buffer& bytes) {
  return MsgpackReader{bytes, 0}.next();
}

}  // namespace

TEST_CASE("integers of every width") {
  CHECK(first(raw({0x00}))->number == 0);
  CHECK(first(raw({0x7f}))->number == 127);
  CHECK(first(raw({0xcc, 0xff}))->number == 255);
  CHECK(first(raw({0xcd, 0x01, 0x02}))->number == 0x102);
  CHECK(first(raw({0xce, 1, 2, 3, 4}))->number == 0x1020304);
  CHECK(first(raw({0xcf, 1, 2, 3, 4, 5, 6, 7, 8}))->number == 0x102030405060708);
  CHECK(first(raw({0xd1, 0x01, 0x00}))->kind == Kind::unsigned_int);
  for (const Buffer& minus_one :
       {raw({0xff}), raw({0xd0, 0xff}), raw({0xd1, 0xff, 0xff}), raw({0xd2, 0xff, 0xff, 0xff, 0xff}),
        raw({0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})}) {
    const auto token = first(minus_one);
    REQUIRE(token.ok());
    CHECK(token->kind == Kind::negative_int);
    CHECK(static_cast<std::int64_t>(token->number) == -1);
  }
}

TEST_CASE("texts, binaries and extensions") {
  CHECK(first(raw({0xa2, 'h', 'i'}))->text == "hi");
  CHECK(first(raw({0xd9, 2, 'h', 'i'}))->text == "hi");
  CHECK(first(raw({0xda, 0, 2, 'h', 'i'}))->text == "hi");
  CHECK(first(raw({0xc4, 1, 7}))->kind == Kind::binary);
  CHECK(first(raw({0xd4, 9, 1}))->text.size() == 2);
  CHECK(first(raw({0xc7, 3, 9, 1, 2, 3}))->text.size() == 4);
  CHECK(first(raw({0xc1})).error().code == Errc::malformed);
}

TEST_CASE("a value that is cut off is an error at every length") {
  const Buffer whole = raw({0xcf, 1, 2, 3, 4, 5, 6, 7, 8});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Buffer part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK(first(part).error().code == Errc::truncated);
  }
  CHECK(first(raw({0xdb, 0xff, 0xff, 0xff, 0xff})).error().code == Errc::truncated);
}

TEST_CASE("a container that announces more elements than there are bytes is refused at once") {
  CHECK(first(raw({0xdd, 0xff, 0xff, 0xff, 0xff})).error().code == Errc::truncated);
  CHECK(first(raw({0xdf, 0x80, 0x00, 0x00, 0x00})).error().code == Errc::truncated);
  CHECK(first(raw({0xdf, 0x00, 0x00, 0x00, 0x01, 0xc0})).error().code == Errc::truncated);
  CHECK(first(raw({0xdf, 0x00, 0x00, 0x00, 0x01, 0xc0, 0xc0})).ok());
}

TEST_CASE("deep nesting is skipped without recursion") {
  Buffer deep(std::size_t{1} << 20U, std::byte{0x91});
  deep.push_back(std::byte{0xc0});
  MsgpackReader reader{deep, 0};
  CHECK_FALSE(reader.skip().has_value());
  CHECK(reader.at_end());
  deep.pop_back();
  MsgpackReader cut{deep, 0};
  CHECK(cut.skip().has_value());
}

TEST_CASE("metadata of kernels") {
  sage::test::ObjectSpec spec;
  spec.kernels.push_back({"second", 100, 0, 16, 48, 3, 64});
  const auto metadata = read_metadata(metadata_note(spec), 0);
  REQUIRE(metadata.ok());
  CHECK(metadata->target == "amdgcn-amd-amdhsa--gfx1201");
  CHECK(metadata->version[1] == 2);
  REQUIRE(metadata->kernels.size() == 2);
  const KernelMetadata& kernel = metadata->kernels[1];
  CHECK(kernel.name == "second");
  CHECK(kernel.symbol == "second.kd");
  CHECK(kernel.vgpr_count == 100);
  CHECK(kernel.sgpr_count == 16);
  CHECK(kernel.vgpr_spill_count == 3);
  CHECK(kernel.scratch_bytes_per_lane == 16);
  CHECK(kernel.kernarg_bytes == 48);
  CHECK(kernel.explicit_kernarg_bytes == 24);  // without the hidden argument behind it
  CHECK(kernel.wavefront_size == 64);
  CHECK(kernel.max_workgroup_size == 256);
}

TEST_CASE("notes that lie") {
  using sage::test::Packer;
  const auto code = [](const Packer& note) {
    const auto metadata = read_metadata(note.bytes, 0);
    REQUIRE_FALSE(metadata.ok());
    return metadata.error().code;
  };
  CHECK(code(Packer{}.array(0)) == Errc::malformed);
  CHECK(code(Packer{}.map(1).number(7).number(7)) == Errc::malformed);
  CHECK(code(Packer{}.map(1).text("amdhsa.kernels").text("none")) == Errc::malformed);
  CHECK(code(Packer{}.map(1).text("amdhsa.kernels").array(1).map(0)) == Errc::malformed);
  CHECK(code(Packer{}.map(1).text("amdhsa.kernels").array(1).map(1).text(".vgpr_count").text("24")) == Errc::malformed);
  CHECK(code(Packer{}
                 .map(1)
                 .text("amdhsa.kernels")
                 .array(1)
                 .map(1)
                 .text(".args")
                 .array(1)
                 .map(2)
                 .text(".offset")
                 .number(0xffffffff)
                 .text(".size")
                 .number(1)) == Errc::malformed);
  CHECK(code(Packer{}.map(1).text("amdhsa.version").array(3).number(1).number(2).number(3)) == Errc::malformed);

  Packer twice;
  twice.map(2);
  for (int i = 0; i < 2; ++i)
    twice.text("amdhsa.kernels").array(1).map(2).text(".name").text("a").text(".symbol").text("a.kd");
  CHECK(code(twice) == Errc::malformed);

  Packer many;
  many.map(1).text("amdhsa.kernels").array(131073);
  many.bytes.resize(many.bytes.size() + 131073, std::byte{0x80});
  CHECK(code(many) == Errc::too_large);
}
