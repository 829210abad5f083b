#include <doctest/doctest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "doctor/inspect/device_objects.hpp"
#include "doctor/inspect/inspect_file.hpp"
#include "doctor/inspect/inspect_json.hpp"
#include "doctor/inspect/inspect_text.hpp"
#include "probes/base/text.hpp"
#include "tests/support/elf_section.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

using test::text_of;

test::ObjectSpec object_for(const std::string& target, std::uint32_t flags) {
  test::ObjectSpec spec;
  spec.flags = flags;
  spec.target = "amdgcn-amd-amdhsa--" + target;
  return spec;
}

test::Buffer two_targets() {
  return test::build_bundle(
      {{"host-x86_64-unknown-linux--", {}},
       {"hipv4-amdgcn-amd-amdhsa--gfx1201", test::build_object().file},
       {"hipv4-amdgcn-amd-amdhsa--gfx1100", test::build_object(object_for("gfx1100", 0x41)).file}});
}

Inspection inspected(const std::string& contents, const std::string& name = "file",
                     const InspectOptions& options = {}) {
  const TemporaryFolder folder;
  auto found = inspect_file(folder.write(name, contents), options);
  REQUIRE_MESSAGE(found.ok(), found.error().text);
  return std::move(found).value();
}

Error refusal(const std::string& contents, const std::string& name = "file") {
  const TemporaryFolder folder;
  const auto found = inspect_file(folder.write(name, contents), {});
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().text.starts_with(folder.path(name)));
  return found.error();
}

}  // namespace

TEST_CASE("a code object tells its target, version and kernels with registers") {
  const Inspection found = inspected(text_of(test::build_object().file), "k.hsaco");
  CHECK(found.kind == InspectedKind::code_object);
  CHECK(found.targets == std::vector<std::string>{"gfx1201"});
  REQUIRE(found.objects.size() == 1);
  CHECK(found.objects[0].version == 5);
  REQUIRE(found.objects[0].kernels.has_value());
  const InspectedKernel& kernel = found.objects[0].kernels->at(0);
  CHECK(kernel.kernel.metadata.name == "axpy");
  CHECK(kernel.kernel.metadata.vgpr_count == 24);
  CHECK(kernel.contradictions.empty());
  const std::string text = inspect_text(found, {});
  CHECK(contains(text, "gfx1201, code object version 5"));
  CHECK(contains(text, "      24    0   16      0   1024       0   32  axpy\n"));
}

TEST_CASE("a kernel whose metadata and descriptor disagree is shown with the contradiction") {
  test::BuiltObject built = test::build_object();
  test::put_at(built.file, built.rodata, std::uint32_t{2048});
  const Inspection found = inspected(text_of(built.file));
  CHECK(found.objects[0].kernels->at(0).contradictions ==
        std::vector<std::string>{"LDS bytes: metadata 1024, descriptor 2048"});
  CHECK(contains(inspect_text(found, {}), "contradiction: LDS bytes"));
}

TEST_CASE("a kernel without instructions may stand at the end of the code, not behind it") {
  test::BuiltObject built = test::build_object();
  const std::uint64_t end = built.text + 64 - built.rodata;
  test::put_at(built.file, built.rodata + 16, end);
  CHECK(inspected(text_of(built.file)).objects[0].kernels.has_value());
  test::put_at(built.file, built.rodata + 16, end + 1);
  CHECK(contains(refusal(text_of(built.file)).text, "outside of the code"));
}

TEST_CASE("a bundle lists its targets and the kernels of each") {
  const Inspection found = inspected(text_of(two_targets()));
  CHECK(found.kind == InspectedKind::bundle);
  CHECK(found.targets == std::vector<std::string>{"gfx1100", "gfx1201"});
  REQUIRE(found.objects.size() == 2);
  CHECK(found.objects[1].target == "gfx1100");
  CHECK(found.objects[1].kernels.has_value());
  CHECK(found.objects[1].contradictions.empty());
  CHECK(found.notes.empty());
}

TEST_CASE("a bundle whose entry holds code for another target says so") {
  const Inspection found = inspected(text_of(test::build_bundle(
      {{"hipv4-amdgcn-amd-amdhsa--gfx1100", test::build_object().file},
       {"hipv4-amdgcn-amd-amdhsa--gfx906", test::Buffer(64, std::byte{1})},
       {"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", {std::byte{3}, std::byte{2}, std::byte{0x23}, std::byte{7}}}})));
  CHECK(found.objects[0].contradictions == std::vector<std::string>{"its bundle says gfx1100, its own header gfx1201"});
  CHECK(found.objects[1].not_read == "no ELF file");
  CHECK(contains(found.objects[2].not_read, "SPIR-V"));
}

TEST_CASE("the kernels of a compressed bundle are read, in a library too") {
  const test::Buffer plain = two_targets();
  uLongf size = compressBound(plain.size());
  test::Buffer body(size);
  REQUIRE(compress(reinterpret_cast<Bytef*>(body.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                   plain.size()) == Z_OK);
  body.resize(size);
  const test::Buffer packed = test::build_compressed(3, 0, 32 + size, plain.size(), body);
  for (const std::string& bytes : {text_of(packed), test::library_with_section(packed)}) {
    const Inspection found = inspected(bytes);
    REQUIRE(found.bundles.has_value());
    CHECK(found.bundles->compressed);
    REQUIRE(found.objects.size() == 2);
    CHECK(found.objects[0].kernels->at(0).kernel.metadata.name == "axpy");
  }
  // The header lies about what comes out.
  const test::Buffer lying = test::build_compressed(3, 0, 32 + size, plain.size() + 1, body);
  CHECK(contains(inspected(text_of(lying)).objects[0].not_read, "the header announces"));
}

TEST_CASE("the kernels of much code are read only when asked, and a note says so") {
  InspectOptions options;
  options.little_kernel_bytes = 100;
  const std::string bytes = text_of(two_targets());
  const Inspection little = inspected(bytes, "file", options);
  CHECK_FALSE(little.objects[0].kernels.has_value());
  REQUIRE(little.notes.size() == 1);
  CHECK(contains(little.notes[0], "the kernels of 2 of 2 code objects are not listed"));
  CHECK(contains(little.notes[0], "--kernels"));
  options.kernels = true;
  CHECK(inspected(bytes, "file", options).objects[1].kernels.has_value());
  options.most_kernel_bytes = 100;
  CHECK(contains(inspected(bytes, "file", options).notes.at(0), "more than 100 B"));
}

TEST_CASE("entries that lie over each other are not read over and over") {
  std::vector<test::BundleSpecEntry> entries(1000, {"hip-amdgcn-amd-amdhsa--gfx1201", {}});
  entries[0].contents = test::Buffer(100'000, std::byte{1});
  test::Buffer bytes = test::build_bundle(entries);
  std::uint64_t first_offset = 0;
  std::memcpy(&first_offset, bytes.data() + 32, sizeof first_offset);
  const std::size_t entry_size = 24 + entries[0].id.size();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    test::put_at(bytes, 32 + i * entry_size, first_offset);
    test::put_at(bytes, 32 + i * entry_size + 8, std::uint64_t{100'000});
  }
  const Inspection found = inspected(text_of(bytes));
  CHECK(found.objects.size() == 1000);
  CHECK(contains(found.notes.at(0), "not listed"));
}

TEST_CASE("a library whose section for GPU code has no bytes points at .kpack files") {
  const Inspection found = inspected(test::library_with_section(test::Buffer(64), {".hip_fatbin", 8}));
  CHECK_FALSE(found.bundles->in_file);
  CHECK(contains(inspect_text(found, {}), "not in this file (.hip_fatbin is empty)"));
}

TEST_CASE("a .kpack file is told by its name") {
  CHECK(parse_kpack_name("blas_lib_gfx1201.kpack").name == "blas_lib");
  CHECK(parse_kpack_name("blas_lib_gfx1201.kpack").target == "gfx1201");
  CHECK(parse_kpack_name("rand_gfx90a:xnack-.kpack").target == "gfx90a:xnack-");
  CHECK(parse_kpack_name("a_gfxnothing.kpack").target.empty());
  CHECK(parse_kpack_name("a_gfxnothing.kpack").name == "a_gfxnothing");
  CHECK(parse_kpack_name("a.kpack").target.empty());
  const Inspection found = inspected("anything", "blas_gfx1201.kpack");
  CHECK(found.kind == InspectedKind::kpack);
  CHECK(found.targets == std::vector<std::string>{"gfx1201"});
  CHECK(contains(found.notes.at(0), "by the file's name alone"));
}

TEST_CASE("this test is a program with needs and the highest version of each family") {
  const auto found = inspect_file("/proc/self/exe", {});
  REQUIRE_MESSAGE(found.ok(), found.error().text);
  CHECK(found->kind == InspectedKind::program);
  REQUIRE(found->elf.has_value());
  CHECK_FALSE(found->elf->needed.empty());
  CHECK(found->highest_needs.size() == found->elf->version_needs.size());
  // Which families it needs depends on how it was compiled; CXXABI comes before GLIBCXX.
  const std::string text = inspect_text(*found, {});
  CHECK(contains(text, "libstdc++.so.6: "));
  CHECK(contains(text, " GLIBCXX_3.4."));
}

TEST_CASE("rpath and runpath are told apart with what they mean for LD_LIBRARY_PATH") {
  const std::string shims = SAGE_TEST_SHIMS;
  InspectOptions options;
  options.exports = true;
  const auto runpath = inspect_file(shims + "/elf/libsmall_runpath.so.7", options);
  REQUIRE(runpath.ok());
  CHECK(runpath->kind == InspectedKind::library);
  CHECK(contains(inspect_text(*runpath, {}), "after LD_LIBRARY_PATH"));
  REQUIRE(runpath->exports.has_value());
  const auto& names = *runpath->exports;
  CHECK(std::find(names.begin(), names.end(), "sage_test_defines_this") != names.end());
  CHECK(std::find(names.begin(), names.end(), "sage_test_needs_this") == names.end());
  const auto rpath = inspect_file(shims + "/elf/libsmall_rpath.so", {});
  REQUIRE(rpath.ok());
  CHECK(contains(inspect_text(*rpath, {}), "before LD_LIBRARY_PATH"));
  CHECK_FALSE(rpath->exports.has_value());
  options.most_exports = 1;
  CHECK(contains(inspect_file(shims + "/elf/libsmall_runpath.so.7", options)->notes.at(0), "only 1 of its exports"));
}

TEST_CASE("of each family of versions the highest is kept") {
  using Names = std::vector<std::string>;
  CHECK(highest_versions({"GLIBC_2.4", "GLIBC_2.34", "GLIBC_2.17", "GLIBC_PRIVATE"}) ==
        Names{"GLIBC_2.34", "GLIBC_PRIVATE"});
  CHECK(highest_versions({"GLIBCXX_3.4.9", "CXXABI_1.3", "GLIBCXX_3.4.30"}) == Names{"GLIBCXX_3.4.30", "CXXABI_1.3"});
  CHECK(highest_versions({"hip_6.0", "hip_4.2"}) == Names{"hip_6.0"});
  CHECK(highest_versions({"A", "A_1", "A_", "_1", ""}) == Names{"A", "A_1", "A_", "_1", ""});
  CHECK(highest_versions({}).empty());
}

TEST_CASE("what can't be inspected says why and what to do") {
  CHECK(contains(refusal("").text, "the file is empty; "));
  CHECK(contains(refusal("hello").text, "neither an ELF file nor an offload bundle; name a library"));
  CHECK(contains(refusal("version https://git-lfs.github.com/spec/v1\n").text, "git lfs pull"));
  CHECK(contains(refusal("/* GNU ld script */\nGROUP ( libc.so.6 )").text, "linker script"));
  CHECK(contains(refusal("!<arch>\n").text, "static library"));
  CHECK(contains(refusal("CCOB").text, "damaged offload bundle"));
  CHECK(contains(refusal("__CLANG_OFFLOAD_BUNDLE__").text, "damaged offload bundle"));
  CHECK(contains(refusal("\x7f"
                         "ELF")
                     .text,
                 "ELF"));

  const TemporaryFolder folder;
  const auto error_of = [](const std::string& path) { return inspect_file(path, {}).error(); };
  CHECK(error_of(folder.path("none")).number == ENOENT);
  CHECK(contains(error_of(folder.path("none")).text, "check the name"));
  CHECK(contains(error_of(folder.path()).text, "name a file in it"));
  REQUIRE(mkfifo(folder.path("fifo").c_str(), 0600) == 0);
  CHECK(contains(error_of(folder.path("fifo")).text, "not a regular file; name a library"));
  CHECK(contains(error_of("/dev/null").text, "not a regular file; name a library"));
}

TEST_CASE("a code object, a bundle and a library cut off anywhere are an error or say what is missing") {
  const std::string object = text_of(test::build_object().file);
  for (std::size_t size = 0; size < object.size(); size += 5) {
    CAPTURE(size);
    CHECK(refusal(object.substr(0, size)).text.size() > 10);
  }
  const std::string library = test::library_with_section(two_targets());
  for (std::size_t size = 0; size < library.size(); size += 97) {
    CAPTURE(size);
    CHECK(refusal(library.substr(0, size)).text.size() > 10);
  }
  const std::string bundle = text_of(two_targets());
  for (std::size_t size = 0; size < bundle.size(); size += 97) {
    CAPTURE(size);
    CHECK(refusal(bundle.substr(0, size)).text.size() > 10);
  }
}

TEST_CASE("every changed byte of a code object is survived and can be written down") {
  const std::string good = text_of(test::build_object().file);
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (good[i] == 0 && i % 16 != 0) continue;
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0xff);
    const auto found = inspect_file(folder.write("k.hsaco", bytes), {});
    if (!found.ok()) continue;
    CHECK_FALSE(inspect_text(*found, {}).empty());
    CHECK(nlohmann::json::parse(inspect_json(*found, "0", Redaction())).contains("targets"));
  }
}

TEST_CASE("control characters of a file never reach the terminal") {
  test::ObjectSpec spec;
  spec.kernels[0].name = "k\x1b[2J\x07\xff";
  const Inspection found = inspected(text_of(test::build_object(spec).file));
  const std::string text = inspect_text(found, {});
  CHECK(contains(text, "k?[2J??\n"));
  CHECK(text.find_first_of("\x1b\x07\xff") == std::string::npos);
  const std::string json = inspect_json(found, "0", Redaction());
  CHECK(json.find_first_of("\x1b\x07\xff") == std::string::npos);
  CHECK(nlohmann::json::parse(json).is_object());
}

TEST_CASE("the JSON that is written piece by piece has the form of one that is written at once") {
  test::ObjectSpec spec;
  for (const char* name : {"b", "c\xff"}) spec.kernels.push_back({name});
  for (const std::string& bytes : {text_of(test::build_object(spec).file), text_of(two_targets())}) {
    const std::string json = inspect_json(inspected(bytes), "0", Redaction());
    CHECK(nlohmann::ordered_json::parse(json).dump(2) + "\n" == json);
  }
  Inspection found = inspected(text_of(test::build_object(spec).file));
  CHECK(nlohmann::json::parse(inspect_json(found, "0", Redaction()))["code_objects"][0]["kernels"].size() == 3);
  found.objects[0].kernels.reset();
  CHECK(nlohmann::json::parse(inspect_json(found, "0", Redaction()))["code_objects"][0]["kernels"].is_null());
  found.objects.clear();
  CHECK(nlohmann::json::parse(inspect_json(found, "0", Redaction()))["code_objects"].empty());
}

TEST_CASE("a big inspection is written in pieces") {
  test::ObjectSpec spec;
  spec.kernels.clear();
  for (int i = 0; i < 600; ++i) spec.kernels.push_back({"kernel" + std::to_string(i)});
  const Inspection found = inspected(text_of(test::build_object(spec).file));
  std::vector<std::string> pieces;
  write_inspect_json(found, "0", Redaction(), [&](std::string_view piece) { pieces.emplace_back(piece); });
  REQUIRE(pieces.size() > 1);
  for (const std::string& piece : pieces) CHECK(piece.size() < 512 * 1024);
  CHECK(join(pieces, "") == inspect_json(found, "0", Redaction()));
}

TEST_CASE("more kernels than are shown are counted") {
  test::ObjectSpec spec;
  for (const char* name : {"b", "c", "d"}) spec.kernels.push_back({name});
  const Inspection found = inspected(text_of(test::build_object(spec).file));
  InspectTextStyle style;
  style.most_kernels = 2;
  CHECK(contains(inspect_text(found, style), "2 more kernels not shown here"));
  CHECK_FALSE(contains(inspect_text(found, {}), "not shown here"));
}

}  // namespace sage
