#include "probes/gfx_tables.hpp"

#include <doctest/doctest.h>

#include <string>

#include "probes/base/text.hpp"

namespace sage {
namespace {

GfxTables embedded_or_fail() {
  Result<GfxTables> tables = GfxTables::embedded();
  REQUIRE_MESSAGE(tables.ok(), (tables.ok() ? "" : tables.error().text));
  return tables.value();
}

std::string overlay_error(std::string_view toml) {
  GfxTables tables = embedded_or_fail();
  const auto error = tables.overlay(toml, "user.toml");
  return error ? error->text : "";
}

}  // namespace

TEST_CASE("the embedded tables are complete and agree with one another") {
  const GfxTables tables = embedded_or_fail();
  CHECK(tables.target_names().size() == 41);
  for (const std::string& name : tables.target_names()) {
    CAPTURE(name);
    const GfxTarget* target = tables.target(name);
    REQUIRE(target != nullptr);
    CHECK_FALSE(target->architecture.empty());
    CHECK(target->elf_machine != 0);
    CHECK((target->wavefront_size == 32 || target->wavefront_size == 64));
    CHECK(target->lds_bytes >= 64 * 1024);
    CHECK(target->generic == !target->members.empty());
    CHECK(target->rocm_first_official.empty() == target->rocm_first_mark.empty());
    CHECK(target->kernel_first.empty() == target->kernel_first_mark.empty());
    for (const std::string& member : target->members) {
      CAPTURE(member);
      REQUIRE(tables.target(member) != nullptr);
      CHECK(tables.target(member)->covered_by_generic == name);
    }
  }
  CHECK(tables.target("gfx9999") == nullptr);
}

TEST_CASE("the row of gfx1201 holds what the checks build on") {
  const GfxTables tables = embedded_or_fail();
  const GfxTarget* target = tables.target("gfx1201");
  REQUIRE(target != nullptr);
  CHECK(target->architecture == "RDNA4");
  CHECK(target->elf_machine == 0x4e);
  CHECK(target->covered_by_generic == "gfx12-generic");
  CHECK(target->vgprs_per_simd == 1536);
  CHECK(target->wmma == "gfx12");
  CHECK(target->llvm_first == "18");
  CHECK(target->rocm_absent_in == "6.0");
  CHECK(target->rocm_first_official == "6.4.1");
  CHECK(target->rocm_first_mark == "S");
  CHECK(target->kernel_first == "6.11");
  CHECK(target->torch_wheel);
  CHECK_FALSE(tables.target("gfx1031")->torch_wheel);
}

TEST_CASE("a PCI id leads to a target and, with its revision, to a product") {
  const GfxTables tables = embedded_or_fail();
  const GpuModel* model = tables.model(0x7550);
  REQUIRE(model != nullptr);
  CHECK(model->target == "gfx1201");
  CHECK(model->target_mark == "D");
  CHECK_FALSE(model->integrated);
  CHECK(tables.model(0x1586)->integrated);
  CHECK(tables.model(0xffff) == nullptr);

  CHECK(tables.marketing_name(0x744c, 0xc8) == "AMD Radeon RX 7900 XTX");
  CHECK(tables.marketing_name(0x744c, 0xcc) == "AMD Radeon RX 7900 XT");
  CHECK_FALSE(tables.marketing_name(0x744c, 0x01));
  CHECK_FALSE(tables.marketing_name(0x744c, std::nullopt));
  CHECK(tables.marketing_name(0x7551, std::nullopt) == "AMD Radeon AI PRO R9700");
  CHECK_FALSE(tables.marketing_name(0x1902, 0xc1));
}

TEST_CASE("a target that exists only in APUs tells that a GPU is integrated") {
  const GfxTables tables = embedded_or_fail();
  CHECK(tables.target_integrated("gfx1036") == true);
  CHECK(tables.target_integrated("gfx1201") == false);
  CHECK_FALSE(tables.target_integrated("gfx1251"));
  GfxTables mixed = tables;
  CHECK_FALSE(mixed.overlay("[[gpu]]\ndevice_id = 1\ntarget = \"gfx1201\"\nintegrated = true\n", "user.toml"));
  CHECK_FALSE(mixed.target_integrated("gfx1201"));
}

TEST_CASE("IP versions lead to targets, not digit for digit") {
  const GfxTables tables = embedded_or_fail();
  CHECK(tables.target_of_gc_version("12.0.1") == "gfx1201");
  CHECK(tables.target_of_gc_version("11.0.3") == "gfx1101");
  CHECK(tables.target_of_gc_version("9.4.3") == "gfx942");
  CHECK(tables.target_of_gc_version("12.1.0") == "gfx1250");
  CHECK_FALSE(tables.target_of_gc_version("1.2.3"));
}

TEST_CASE("the kernel's decimal version is a name in hex digits") {
  CHECK(target_of_kfd_version(120001) == "gfx1201");
  CHECK(target_of_kfd_version(90010) == "gfx90a");
  CHECK(target_of_kfd_version(90402) == "gfx942");
  CHECK(target_of_kfd_version(100306) == "gfx1036");
  CHECK(target_of_kfd_version(120500) == "gfx1250");
  CHECK(target_of_kfd_version(80003) == "gfx803");
  CHECK_FALSE(target_of_kfd_version(0));
  CHECK_FALSE(target_of_kfd_version(42));
  CHECK_FALSE(target_of_kfd_version(90016));
  CHECK_FALSE(target_of_kfd_version(91600));
  CHECK_FALSE(target_of_kfd_version(18446744073709551615u));
}

TEST_CASE("an override is three decimal numbers and nothing else") {
  CHECK(target_of_override("11.0.0") == "gfx1100");
  CHECK(target_of_override("9.0.10") == "gfx90a");
  CHECK(target_of_override("9.4.2") == "gfx942");
  CHECK(target_of_override("63.255.255") == "gfx63ffff");
  for (const char* wrong : {"", "gfx1030", "10.3", "10.3.0.1", "10.3.0 ", " 10.3.0", "\"10.3.0\"", "64.0.0", "10.256.0",
                            "10.3.", "..", "10.3.-1", "10.3.0a", "10.3.99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_FALSE(target_of_override(wrong));
  }
}

TEST_CASE("override advice and the WSL allow-list are looked up exactly") {
  const GfxTables tables = embedded_or_fail();
  REQUIRE(tables.override_rule("gfx1031", "10.3.0") != nullptr);
  CHECK(tables.override_rule("gfx1031", "10.3.0")->verdict == OverrideClass::safe);
  CHECK(tables.override_rule("gfx1201", "11.0.0")->verdict == OverrideClass::bad);
  CHECK(tables.override_rule("gfx1201", "9.0.0") == nullptr);
  CHECK(tables.dxg_allowed(0x7550));
  CHECK(tables.dxg_allowed(0x1900));
  CHECK_FALSE(tables.dxg_allowed(0x7480));
}

TEST_CASE("a user's file adds and replaces whole rows") {
  GfxTables tables = embedded_or_fail();
  const auto error = tables.overlay(R"(
[[gpu]]
device_id = 0x7550
target = "gfx1201"
names = [{ name = "My card", revisions = [0xC0] }]
[[target]]
name = "gfx1310"
architecture = "RDNA5"
kfd_version = 130100
[[override]]
target = "gfx1031"
value = "10.3.0"
verdict = "risky"
[gc_version]
"13.1.0" = "gfx1310"
[dxg]
allowed_device_ids = [0x7480]
)",
                                    "user.toml");
  CHECK_FALSE(error);
  CHECK(tables.marketing_name(0x7550, 0xc0) == "My card");
  CHECK_FALSE(tables.marketing_name(0x7550, 0xc3));
  CHECK(tables.target_of_gc_version("13.1.0") == "gfx1310");
  REQUIRE(tables.target("gfx1310") != nullptr);
  CHECK(tables.override_rule("gfx1031", "10.3.0")->verdict == OverrideClass::risky);
  CHECK(tables.dxg_allowed(0x7480));
  CHECK(tables.dxg_allowed(0x7550));
}

TEST_CASE("a flawed user's file is refused with file, line and reason, and changes nothing") {
  CHECK(overlay_error("[[gpu]]\ndevice_id = 1\ntarget = \"gfx900\"\nintegratd = true\n") ==
        "user.toml:4: gpu: unknown key 'integratd'; did you mean 'integrated'?");
  CHECK(overlay_error("[[gpus]]\ndevice_id = 1\n") == "user.toml:1: unknown key 'gpus'; did you mean 'gpu'?");
  CHECK(overlay_error("quite_another_thing = 1") == "user.toml:1: unknown key 'quite_another_thing'");
  CHECK(overlay_error("[[gpu]]\ndevice_id = \"7550\"\n") ==
        "user.toml:2: gpu: device_id: wants a whole number from 0 to 4294967295");
  CHECK(overlay_error("[[gpu]]\ndevice_id = 0x10000\ntarget = \"gfx900\"\n") ==
        "user.toml:1: gpu: device_id: wants a PCI id from 1 to 0xffff");
  CHECK(overlay_error("[[gpu]]\ndevice_id = 1\ntarget = \"gfx900\"\nnames = [\n{ nam = \"x\" }]\n") ==
        "user.toml:5: gpu: names: unknown key 'nam'; did you mean 'name'?");
  CHECK(contains(overlay_error("[[target]]\nname = \"gfx1201\"\nkfd_version = 120000\n"), "is not that of gfx1201"));
  CHECK(contains(overlay_error("[[target]]\nname = \"GFX1201\"\n"), "wants a gfx target"));
  CHECK(contains(overlay_error("[[override]]\ntarget = \"gfx900\"\nvalue = \"9.0\"\n"), "three decimal numbers"));
  CHECK(contains(overlay_error("[[override]]\nverdict = \"good\"\n"), "user.toml:2: override: verdict: wants"));
  CHECK(contains(overlay_error("[gpu]\ndevice_id = 1\n"), "wants a list of tables"));
  CHECK(contains(overlay_error("a = \n"), "user.toml:1: "));

  GfxTables tables = embedded_or_fail();
  CHECK(tables.overlay("[dxg]\nallowed_device_ids = [0x7480]\n[zzz]\n", "user.toml"));
  CHECK_FALSE(tables.dxg_allowed(0x7480));
}

}  // namespace sage
