#include "doctor/build/compile/object.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "probes/base/text.hpp"

namespace sage {
namespace {

std::string data(const std::string& name) {
  std::ifstream file(SAGE_TEST_SOURCE_DIR "/tests/unit/build/compile/data/" + name, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  REQUIRE_FALSE(bytes.empty());
  return bytes;
}

const TargetUnits& all_units() {
  static const TargetUnits all = *units_of("gfx1100");
  return all;
}

const Unit& unit(std::string_view name) {
  for (const Unit& unit : all_units().units) {
    if (unit.name == name) return unit;
  }
  FAIL("no unit " << name);
  return all_units().units[0];
}

VerifiedObject verify(const std::string& bytes, std::string_view name, std::string_view target = "gfx1100") {
  return verify_object(bytes, target, unit(name), *GfxTables::embedded());
}

constexpr std::string_view one = "sage_attention_d128_F16_LONG";

}  // namespace

TEST_CASE("a sound object of every unit is clean and tells its kernels' resources") {
  const std::string bytes = data("gfx1100.hsaco");
  for (const Unit& each : all_units().units) {
    INFO(each.name);
    const VerifiedObject object = verify(bytes, each.name);
    CHECK(object.clean());
    CHECK(object.bytes == bytes);
    REQUIRE(object.kernels.size() == each.kernels.size());
    CHECK(object.kernels[0].kernel == each.kernels[0]);
  }
}

TEST_CASE("an object comes out of its bundle") {
  const VerifiedObject object = verify(data("gfx1100.bundle"), one);
  CHECK(object.clean());
  CHECK(object.bytes.starts_with("\x7f" "ELF"));
  CHECK(object.bytes.size() < data("gfx1100.bundle").size());
}

TEST_CASE("an object of another target is refused") {
  const VerifiedObject object = verify(data("gfx90a.hsaco"), one);
  REQUIRE(object.refusals.size() == 1);
  CHECK(object.refusals[0] == "the code object is for gfx90a, not for gfx1100");
}

TEST_CASE("an object without the unit's kernel is refused") {
  std::string bytes = data("gfx1100.hsaco");
  for (std::size_t at = 0; (at = bytes.find(one, at)) != std::string::npos;) bytes[at] = 'l';
  const VerifiedObject object = verify(bytes, one);
  CHECK_FALSE(object.usable());
  CHECK(object.refusals[0] == "kernel sage_attention_d128_F16_LONG is missing");
}

TEST_CASE("a kernel that takes other arguments is refused") {
  const VerifiedObject object = verify(data("few_arguments.hsaco"), one);
  REQUIRE_FALSE(object.usable());
  CHECK(object.refusals[0] == "kernel sage_attention_d128_F16_LONG takes 16 bytes of arguments, not 328");
}

TEST_CASE("scratch memory and too much LDS are complaints") {
  const VerifiedObject scratch = verify(data("long_in_scratch.hsaco"), one);
  CHECK(scratch.usable());
  REQUIRE(scratch.complaints.size() == 1);
  CHECK(scratch.kernels[0].scratch_bytes == 80);
  CHECK(scratch.kernels[0].vgprs > 0);
  CHECK(scratch.complaints[0] == "sage_attention_d128_F16_LONG uses 80 bytes of scratch memory");
  CHECK(verify(data("long_in_scratch.hsaco"), "sage_attention_d128_F16_SHORT").clean());

  const VerifiedObject lds = verify(data("much_lds.hsaco"), one);
  REQUIRE(lds.complaints.size() == 1);
  CHECK(lds.complaints[0] == "sage_attention_d128_F16_LONG uses 64000 bytes of LDS, the table says " +
                                 std::to_string(device::tile_lds_bytes(*unit(one).tile)));
}

TEST_CASE("any bytes are looked at and refused") {
  const std::string sound = data("gfx1100.hsaco");
  CHECK(verify("", one).refusals[0] == "the compiler wrote no code object");
  CHECK_FALSE(verify("garbage", one).usable());
  CHECK_FALSE(verify(std::string(100, '\0'), one).usable());
  for (std::size_t length = 1; length < sound.size(); length += 97) {
    INFO(length);
    CHECK_FALSE(verify(sound.substr(0, length), one).usable());
  }
}

TEST_CASE("a cubin is read for its target, and tells registers and stack") {
  const TargetUnits all = *units_of("sm_90");
  const auto tables = GfxTables::embedded();
  const auto look = [&](std::string_view name, const std::string& bytes, std::string_view target) {
    const auto found = std::find_if(all.units.begin(), all.units.end(), [&](const Unit& u) { return u.name == name; });
    return verify_object(bytes, target, *found, *tables);
  };
  const VerifiedObject sound = look("sage_attention_sm90_d64_F16_LONG", data("sm_90.cubin"), "sm_90");
  CHECK(sound.usable());
  REQUIRE(sound.kernels.size() == 1);
  CHECK(sound.kernels[0].vgprs == 29);
  CHECK(sound.kernels[0].scratch_bytes == 64);
  REQUIRE(sound.complaints.size() == 1);
  CHECK(sound.complaints[0] == "sage_attention_sm90_d64_F16_LONG has a stack of 64 bytes a thread");
  CHECK(look("sage_attention_sm90_d64_F16_LONG", data("sm_90.cubin"), "sm_89").refusals[0] ==
        "the cubin is for sm_90, not for sm_89");
  CHECK(look("sage_prologue", data("sm_90.cubin"), "sm_90").refusals[0] == "kernel sage_statistics is missing");
  CHECK_FALSE(look("sage_prologue", data("gfx1100.hsaco"), "sm_90").usable());
}

}  // namespace sage
