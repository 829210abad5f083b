#include <doctest/doctest.h>

#include "code_object/code_object.hpp"
#include "code_object/cubin.hpp"
#include "code_object/elf.hpp"
#include "elf_builder.hpp"

using namespace sage::code_object;
using namespace sage::test;

namespace {

Errc code_of(const Buffer& file) {
  const auto object = read_code_object(file);
  REQUIRE_FALSE(object.ok());
  REQUIRE_FALSE(object.error().message.empty());
  return object.error().code;
}

// A copy of exactly the right size, so that a sanitizer sees a read past the end.
Buffer prefix(const Buffer& file, std::size_t length) {
  return Buffer(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
}

}  // namespace

TEST_CASE("a hand-made object is read back") {
  ObjectSpec spec;
  spec.kernels.push_back({"second", 100, 4096, 0, 48, 0, 32});
  const auto object = read_code_object(build_object(spec).file);
  REQUIRE_MESSAGE(object.ok(), object.error().message);
  CHECK(object->target.processor == "gfx1201");
  CHECK(object->version == 5);
  REQUIRE(object->kernels.size() == 2);
  const Kernel* const second = object->find_kernel("second");
  REQUIRE(second != nullptr);
  CHECK(second->exported);
  CHECK(second->code_size == 64);
  REQUIRE(second->descriptor.has_value());
  CHECK(second->descriptor->lds_bytes == 4096);
  CHECK(second->descriptor->wave32());
  CHECK(second->descriptor->allocated_vgprs(object->target) == 104);
  CHECK(contradictions(*object, *second).empty());
  CHECK(object->find_kernel("third") == nullptr);
}

TEST_CASE("cut off after every byte it is an error, never a crash") {
  const Buffer whole = build_object().file;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Buffer part = prefix(whole, length);
    const auto object = read_code_object(part);
    CHECK_MESSAGE(!object.ok(), "length ", length);
  }
  REQUIRE(read_code_object(whole).ok());
}

TEST_CASE("every field of the headers set to hostile values") {
  const BuiltObject built = build_object();
  std::vector<std::size_t> fields;
  for (std::size_t at = 0; at < BuiltObject::segments + 3 * 56; at += 4) fields.push_back(at);
  for (std::size_t at = built.note; at < built.note + 20; at += 4) fields.push_back(at);
  for (std::size_t at = built.dynsym; at < built.dynstr; at += 4) fields.push_back(at);
  for (std::size_t at = built.rodata; at < built.text; at += 4) fields.push_back(at);
  for (std::size_t at = built.sections; at + 4 <= built.file.size(); at += 4) fields.push_back(at);
  int refused = 0;
  for (const std::size_t at : fields) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{0x7fffffff}, std::uint64_t{0x80000000}, std::uint64_t{0xffffffff}}) {
      Buffer file = built.file;
      put_at(file, at, static_cast<std::uint32_t>(value));
      if (!read_code_object(file).ok()) ++refused;
    }
    if (at + 8 > built.file.size()) continue;
    for (const std::uint64_t value :
         {~std::uint64_t{0}, ~std::uint64_t{0} - 63, std::uint64_t{1} << 63U, std::uint64_t{1} << 32U}) {
      Buffer file = built.file;
      put_at(file, at, value);
      if (!read_code_object(file).ok()) ++refused;
    }
  }
  CHECK(refused > 300);
}

TEST_CASE("headers") {
  BuiltObject built = build_object();
  const auto with = [&](std::size_t at, auto value) {
    Buffer file = built.file;
    put_at(file, at, value);
    return code_of(file);
  };
  CHECK(with(0, std::uint8_t{0}) == Errc::bad_magic);
  CHECK(with(4, std::uint8_t{1}) == Errc::unsupported);    // 32-bit
  CHECK(with(5, std::uint8_t{2}) == Errc::unsupported);    // big-endian
  CHECK(with(7, std::uint8_t{65}) == Errc::unsupported);   // PAL, not HSA
  CHECK(with(8, std::uint8_t{0}) == Errc::unsupported);    // code object version 2
  CHECK(with(16, std::uint16_t{1}) == Errc::unsupported);  // relocatable
  CHECK(with(18, std::uint16_t{62}) == Errc::unsupported);
  CHECK(with(54, std::uint16_t{1}) == Errc::malformed);
  CHECK(with(58, std::uint16_t{1}) == Errc::malformed);
  CHECK(with(32, ~std::uint64_t{0} - 100) == Errc::out_of_range);  // offset + size wraps
  CHECK(with(40, ~std::uint64_t{0} - 100) == Errc::out_of_range);
  CHECK(with(56, std::uint16_t{0xffff}) == Errc::truncated);
  CHECK(with(60, std::uint16_t{0xffff}) == Errc::truncated);
}

TEST_CASE("four thousand million sections") {
  BuiltObject built = build_object();
  put_at(built.file, 60, std::uint16_t{0});
  for (const std::uint64_t count : {std::uint64_t{0xffffffff}, std::uint64_t{1} << 58U, ~std::uint64_t{0}}) {
    put_at(built.file, built.sections + 32, count);
    CHECK(code_of(built.file) == Errc::truncated);
  }
  // The same place with the true count is the legal form for files of 65280 sections and more.
  put_at(built.file, built.sections + 32, std::uint64_t{7});
  CHECK(read_code_object(built.file).ok());
}

TEST_CASE("segments and notes that wrap around") {
  const BuiltObject built = build_object();
  const std::size_t note_segment = BuiltObject::segments + 2 * 56;
  Buffer file = built.file;
  put_at(file, note_segment + 8, ~std::uint64_t{0} - 15);
  CHECK(code_of(file) == Errc::out_of_range);
  file = built.file;
  put_at(file, note_segment + 32, ~std::uint64_t{0} - built.note + 1);
  CHECK(code_of(file) == Errc::truncated);
  for (const std::size_t field : {std::size_t{0}, std::size_t{4}}) {  // namesz, descsz
    file = built.file;
    put_at(file, built.note + field, std::uint32_t{0xffffffff});
    CHECK(code_of(file) == Errc::truncated);
  }
  file = built.file;
  put_at(file, built.note + 8, std::uint32_t{33});  // another type: no metadata any more
  CHECK(code_of(file) == Errc::malformed);
  file = built.file;
  put_at(file, built.note + 12, std::uint8_t{'X'});  // another owner
  CHECK(code_of(file) == Errc::malformed);
}

TEST_CASE("symbols and descriptors that point elsewhere") {
  const BuiltObject built = build_object();
  const std::size_t descriptor_symbol = built.dynsym + 2 * 24;
  Buffer file = built.file;
  put_at(file, descriptor_symbol, std::uint32_t{0xfffffff0});
  CHECK(code_of(file) == Errc::out_of_range);
  file = built.file;
  put_at(file, descriptor_symbol + 8, std::uint64_t{built.text - 63});  // 64 bytes do not fit before the segment's end
  CHECK(code_of(file) == Errc::out_of_range);
  file = built.file;
  put_at(file, descriptor_symbol + 8, ~std::uint64_t{0} - 7);
  CHECK(code_of(file) == Errc::out_of_range);
  file = built.file;
  put_at(file, built.rodata + 16, std::uint64_t{0});  // entry = the descriptor itself, which is not code
  CHECK(code_of(file) == Errc::out_of_range);
  file = built.file;
  put_at(file, built.rodata + 16, std::uint64_t{1} << 63U);
  CHECK(code_of(file) == Errc::out_of_range);
  file = built.file;
  put_at(file, built.sections + 2 * 64 + 40, std::uint32_t{77});  // string table of the symbols
  CHECK(code_of(file) == Errc::out_of_range);
  file = built.file;
  put_at(file, built.sections + 2 * 64 + 56, std::uint64_t{0});  // size of a symbol
  CHECK(code_of(file) == Errc::malformed);
}

TEST_CASE("a kernel whose symbol is missing has no descriptor and says so") {
  BuiltObject built = build_object();
  put_at(built.file, built.dynsym + 2 * 24 + 6, std::uint16_t{0});  // undefined
  const auto object = read_code_object(built.file);
  REQUIRE(object.ok());
  CHECK_FALSE(object->kernels[0].descriptor.has_value());
  CHECK_FALSE(object->kernels[0].exported);
  CHECK(contradictions(*object, object->kernels[0]).size() == 1);
}

TEST_CASE("metadata and descriptor that disagree") {
  const BuiltObject built = build_object();
  const auto complaints = [&](std::size_t at, std::uint32_t value) {
    Buffer file = built.file;
    put_at(file, at, value);
    const auto object = read_code_object(file);
    REQUIRE(object.ok());
    return contradictions(*object, object->kernels[0]);
  };
  CHECK(complaints(built.rodata, 2048).size() == 1);
  CHECK(complaints(built.rodata + 4, 16).size() == 1);
  CHECK(complaints(built.rodata + 8, 32).size() == 1);
  CHECK(complaints(built.rodata + 48, 1).size() == 1);  // allocates 16 registers, metadata says 24
  CHECK(complaints(built.rodata + 56, 0).size() == 2);  // wave64, whose registers come in smaller units
  CHECK(complaints(48, 0x48).size() == 1);              // header says gfx1200
}

TEST_CASE("string tables that overlap cost no more than a few passes") {
  // Symbols that all share one long name: 24 bytes of file for a megabyte of reading each.
  BuiltObject built = build_object();
  Buffer file = built.file;
  const std::size_t strings = file.size();
  file.resize(file.size() + (std::size_t{1} << 20U), std::byte{'a'});
  file.push_back(std::byte{0});
  const std::size_t strings_size = file.size() - strings;
  pad_to(file, 8);
  const std::size_t symbols = file.size();
  file.resize(file.size() + 24 * 4096);
  put_at(file, built.sections + 2 * 64 + 24, std::uint64_t{symbols});
  put_at(file, built.sections + 2 * 64 + 32, std::uint64_t{24 * 4096});
  put_at(file, built.sections + 3 * 64 + 24, std::uint64_t{strings});
  put_at(file, built.sections + 3 * 64 + 32, std::uint64_t{strings_size});
  CHECK(code_of(file) == Errc::too_large);
}

TEST_CASE("the header alone identifies an object") {
  const Buffer whole = build_object().file;
  const auto object = identify(prefix(whole, 64));
  REQUIRE(object.ok());
  CHECK(object->target.processor == "gfx1201");
  CHECK(identify(prefix(whole, 63)).error().code == Errc::truncated);
}

TEST_CASE("cubins") {
  ObjectSpec spec;
  spec.machine = 190;
  spec.flags = 0x6005a04;  // nvcc 13, sm_90
  spec.abi_version = 8;
  Buffer file = build_object(spec).file;
  const BuiltObject built = build_object(spec);
  put_at(file, built.sections + 2 * 64 + 4, std::uint32_t{2});  // .dynsym becomes .symtab
  const auto cubin = read_cubin(file);
  REQUIRE(cubin.ok());
  CHECK(cubin->sm == 90);
  REQUIRE(cubin->kernels.size() == 1);
  CHECK(cubin->kernels[0] == "axpy");
  put_at(file, 8, std::uint8_t{7});
  put_at(file, 48, std::uint32_t{0x500550});
  CHECK(read_cubin(file)->sm == 80);
  CHECK_FALSE(read_cubin(build_object().file).ok());
  CHECK(loads_on_sm(80, 89));
  CHECK_FALSE(loads_on_sm(89, 80));
  CHECK_FALSE(loads_on_sm(80, 90));
}
