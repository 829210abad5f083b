#include "doctor/build/install/manifest.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "doctor/build/install/digest.hpp"
#include "probes/base/text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

Manifest sample() {
  Manifest manifest;
  manifest.tool_version = "0.1.0";
  manifest.created = "2026-12-01T03:00:00Z";
  manifest.mark = "sage-doctor-env/1,root=/opt/rocm-7.2.0";
  manifest.source_sha256 = sha256_hex("source");
  manifest.library = {"lib/libsage_attention.so.1", sha256_hex("library"), 1};
  ManifestKernel kernel;
  kernel.name = "sage_attention_d128_F16_LONG";
  kernel.file = "kernels/gfx1201-sage_attention_d128_F16_LONG.hsaco";
  kernel.sha256 = sha256_hex("object");
  kernel.origin = ObjectOrigin::cached;
  kernel.vgprs = 168;
  kernel.sgprs = 40;
  kernel.lds_bytes = 49152;
  kernel.scratch_bytes = 4;
  kernel.spilled_registers = 1;
  kernel.executed_on = ExecutedOn::gpu;
  kernel.warnings = {"uses scratch memory"};
  manifest.targets = {{"gfx1201", "gfx12", {"clang++", "/usr/bin/clang++-19", "19.1.7", ""}, {kernel}}};
  manifest.accuracy = {{kernel.name, "gpu gfx1201", "b 2, h 4", 0.0123, 1e-4, 0.02, 3e-3, true}};
  manifest.other_files = {{"include/sage/attention.h", sha256_hex("header")}};
  return manifest;
}

/// The Error for the sample with one change in its JSON; empty: it was taken.
template <class Change>
std::string refusal(Change change) {
  Json json = Json::parse(manifest_text(sample()));
  change(json);
  const Result<Manifest> manifest = manifest_from_text(json.dump());
  return manifest.ok() ? "" : manifest.error().text;
}

}  // namespace

TEST_CASE("a manifest comes back from its text as it was") {
  const std::string text = manifest_text(sample());
  CHECK(contains(text, "\"executed_on\": \"gpu\""));
  CHECK(contains(text, "\"case\": \"b 2, h 4\""));
  CHECK(text.ends_with("}\n"));
  const Result<Manifest> back = manifest_from_text(text);
  REQUIRE_MESSAGE(back.ok(), back.error().text);
  CHECK(manifest_text(*back) == text);
  CHECK(back->targets[0].kernels[0].origin == ObjectOrigin::cached);
  CHECK(back->accuracy[0].relative_l1 == 0.0123);
}

TEST_CASE("numbers that are none and text that is no UTF-8 survive writing") {
  Manifest manifest = sample();
  manifest.accuracy[0].worst_row = std::numeric_limits<double>::quiet_NaN();
  manifest.targets[0].kernels[0].warnings = {"bad \xff byte"};
  const Result<Manifest> back = manifest_from_text(manifest_text(manifest));
  REQUIRE_MESSAGE(back.ok(), back.error().text);
  CHECK(std::isnan(back->accuracy[0].worst_row));
  CHECK(back->targets[0].kernels[0].warnings[0] == "bad \xef\xbf\xbd byte");
}

TEST_CASE("keys of a later tool are passed over") {
  CHECK(refusal([](Json& json) { json["weather"] = "fine"; }).empty());
}

TEST_CASE("a manifest that is not whole or lies is refused with the place") {
  CHECK(manifest_from_text("").error().text == "it is no JSON");
  CHECK(manifest_from_text("{").error().text == "it is no JSON");
  CHECK(manifest_from_text("[1]").error().text == "version: is missing");
  CHECK(manifest_from_text(std::string(200000, '[')).error().text == "it is no JSON");
  const std::string text = manifest_text(sample());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    CHECK_MESSAGE(!manifest_from_text(text.substr(0, length)).ok(), length);
  }
  CHECK(manifest_from_text(std::string(most_manifest_bytes + 1, ' ')).error().number == EFBIG);

  CHECK(refusal([](Json& json) { json["version"] = 2; }) == "version: 2 is not one that this sage-doctor knows");
  CHECK(refusal([](Json& json) { json["version"] = "1"; }) == "version: \"1\" is not one that this sage-doctor knows");
  CHECK(refusal([](Json& json) {
          json["targets"][0]["kernels"][0]["vgprs"] = -1;
        }).starts_with("targets[0].kernels[0].vgprs: expected a whole number"));
  CHECK(refusal([](Json& json) {
          json["targets"][0]["kernels"][0]["executed_on"] = "emulator";
        }).starts_with("targets[0].kernels[0].executed_on: expected one of the names"));
  CHECK(refusal([](Json& json) { json["accuracy"][0]["rmse"] = "small"; }) ==
        "accuracy[0].rmse: expected a number or null");
  CHECK(refusal([](Json& json) { json["targets"] = Json::object(); }) == "targets: expected a list");
  CHECK(refusal([](Json& json) { json.erase("mark"); }) == "mark: is missing or empty");
  CHECK(refusal([](Json& json) { json["targets"][0]["kernels"][0].erase("name"); }) ==
        "targets[0].kernels[0].name: is missing or empty");
  CHECK(refusal([](Json& json) { json["source_sha256"] = "abc"; }) == "source_sha256: no SHA-256 in hex");
}

TEST_CASE("a manifest names files of its own folder only, each once and with a digest") {
  CHECK(refusal([](Json& json) { json["library"]["file"] = "/usr/lib/libc.so.6"; }) ==
        "library.file: no path below the installation");
  CHECK(refusal([](Json& json) { json["targets"][0]["kernels"][0]["file"] = "kernels/../../x"; }) ==
        "targets[0].kernels[0].file: no path below the installation");
  CHECK(refusal([](Json& json) { json["other_files"][0]["file"] = json["library"]["file"]; }) ==
        "other_files[0].file: lib/libsage_attention.so.1 is listed twice");
  CHECK(refusal([](Json& json) { json["library"]["sha256"] = std::string(64, 'G'); }) ==
        "library.sha256: no SHA-256 in hex");
}

TEST_CASE("altered files are found by their digests") {
  const TemporaryFolder place;
  const Manifest manifest = sample();
  place.write(manifest_name, manifest_text(manifest));
  place.write("lib/libsage_attention.so.1", "library");
  place.write("kernels/gfx1201-sage_attention_d128_F16_LONG.hsaco", "object");
  place.write("include/sage/attention.h", "header");
  const Result<Manifest> read = read_manifest(place.path());
  REQUIRE_MESSAGE(read.ok(), read.error().text);
  CHECK(altered_files(place.path(), *read).empty());

  place.write("lib/libsage_attention.so.1", "librarz");
  std::filesystem::remove(place.folder() / "include/sage/attention.h");
  CHECK(altered_files(place.path(), *read) ==
        std::vector<std::string>{"lib/libsage_attention.so.1: it is not as it was installed",
                                 "include/sage/attention.h: it is gone"});
}

TEST_CASE("an unreadable manifest is named by its path") {
  const TemporaryFolder place;
  const Result<Manifest> none = read_manifest(place.path());
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().number == ENOENT);
  CHECK(none.error().text.starts_with(place.path() + "/manifest.json: "));
  place.write(manifest_name, "{}");
  CHECK(read_manifest(place.path()).error().text == place.path() + "/manifest.json: version: is missing");
}

}  // namespace sage
