#include "probes/host/packet.hpp"

#include <doctest/doctest.h>

namespace sage {
namespace {

ElfFacts example() {
  ElfFacts facts;
  facts.bits = 32;
  facts.machine = "x86_64";
  facts.soname = "liba.so.1";
  facts.needed = {"libb.so", ""};
  facts.rpath = {"$ORIGIN"};
  facts.build_id = "00ff";
  facts.symbols = {{"f", true}, {"g", false}};
  facts.strings = {{"librocdxg.so", true}};
  facts.version_needs = {{"libc.so.6", {"GLIBC_2.34"}}};
  facts.version_definitions = {"V_1"};
  facts.device_code = ElfDeviceCode{false, true, false, {"gfx1201"}};
  return facts;
}

}  // namespace

TEST_CASE("a packet holds every field of an answer") {
  ElfFacts back;
  REQUIRE(unpack(pack(example()), back));
  CHECK(back.bits == 32);
  CHECK(back.machine == "x86_64");
  CHECK(back.soname == "liba.so.1");
  CHECK(back.needed == std::vector<std::string>{"libb.so", ""});
  CHECK(back.rpath == std::vector<std::string>{"$ORIGIN"});
  CHECK(back.runpath.empty());
  CHECK(back.build_id == "00ff");
  CHECK(back.symbols == example().symbols);
  CHECK(back.strings == example().strings);
  CHECK(back.version_needs == example().version_needs);
  CHECK(back.version_definitions == example().version_definitions);
  CHECK(back.device_code == example().device_code);

  DxgAdapterReply adapter;
  adapter.vendor_id = 0x1002;
  adapter.name = "AMD Radeon RX 9070 XT";
  adapter.type_bits = 0;
  DxgAdapterReply adapter_back;
  REQUIRE(unpack(pack(adapter), adapter_back));
  CHECK(adapter_back.vendor_id == 0x1002u);
  CHECK(adapter_back.name == "AMD Radeon RX 9070 XT");
  CHECK(adapter_back.type_bits == 0u);
  CHECK_FALSE(adapter_back.device_id);
}

TEST_CASE("a packet that is cut off, too long or full of lies is refused") {
  const std::string bytes = pack(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ElfFacts facts;
    CHECK_FALSE(unpack(std::string_view(bytes).substr(0, size), facts));
  }
  ElfFacts facts;
  CHECK_FALSE(unpack(bytes + "x", facts));
  std::vector<std::string> names;
  CHECK_FALSE(unpack(std::string(8, '\xff'), names));
  CHECK_FALSE(unpack(std::string(16, '\xff'), names));
}

}  // namespace sage
