#include "probes/host/capture_reader.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/host/captured_host.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

const fs::path samples = fs::path(SAGE_TEST_SOURCE_DIR) / "tests/unit/host/data";

constexpr const char* first_line = "capture_version = 1\n";

std::string error_of(const fs::path& folder) {
  const Result<Capture> capture = read_capture(folder);
  return capture.ok() ? "no error" : capture.error().text;
}

}  // namespace

TEST_CASE("every key of the format reads as what it says") {
  const Result<Capture> read = read_capture(samples / "everything");
  REQUIRE_MESSAGE(read.ok(), read.error().text);
  const Capture& capture = *read;
  CHECK(capture.description == "Every key of the format once");
  CHECK(capture.process.uid == 1001);
  CHECK(capture.process.groups == std::vector<std::uint32_t>{4, 27});
  CHECK(capture.process.working_folder == "/home/anna/work");
  CHECK(capture.process.usable_cpus == 16);
  CHECK(capture.now == 1764500000);
  CHECK(capture.libc->value().version == "2.39");
  CHECK(capture.environment.at("HSA_OVERRIDE_GFX_VERSION").empty());
  CHECK(capture.mounts->value().at(1).filesystem == "9p");
  CHECK(capture.loader_cache->value().at(1).path == "/usr/lib/libhsa-runtime64.so.1");
  CHECK(capture.paths.at("/etc/hostname").mode == 0600);
  CHECK(capture.paths.at("/etc/hostname").inode == 77);
  CHECK(capture.paths.at("/etc/os-release").contents == "ID=debian\n");
  CHECK(capture.paths.at("/dev/kfd").open == Errno{ENXIO});
  CHECK(capture.paths.at("/dev/kfd").access == Errno{0});
  CHECK(capture.paths.at("/sys/odd").read_error == Error{EIO, "the firmware said no"});
  const ElfFacts& elf = *capture.elf.at("/opt/rocm-7.2.0/lib/libhsa-runtime64.so.1");
  CHECK(elf.runpath == std::vector<std::string>{"$ORIGIN/../lib"});
  CHECK(elf.symbols.at("hsa_init"));
  CHECK_FALSE(elf.symbols.at("hsaKmtOpenKFD"));
  CHECK(elf.version_needs ==
        std::vector<ElfVersionNeed>{{"libc.so.6", {"GLIBC_2.14", "GLIBC_2.28"}}, {"libdrm.so.2", {"DRM_1"}}});
  CHECK(elf.version_definitions == std::vector<std::string>{"ROCR_1"});
  CHECK(elf.device_code == ElfDeviceCode{false, true, false, {"gfx1100", "gfx90a:xnack-"}});
  CHECK(capture.dxg_adapters->value().at(0).device_id == 0x7550u);
  CHECK_FALSE(capture.dxg_adapters->value().at(1).device_id.has_value());
  CHECK(capture.drm_devices->value().at(0).vram_bytes == 17095983104u);
  CHECK(capture.programs.at(0).result->exit_status == 3);
  CHECK(capture.programs.at(1).result->timed_out);
  CHECK(capture.programs.at(2).result.error().number == EACCES);
}

TEST_CASE("a capture that extends another inherits, deletes and overrides") {
  const Result<Capture> read = read_capture(samples / "no-group");
  REQUIRE_MESSAGE(read.ok(), read.error().text);
  CHECK(read->description == "The user is in no group that owns the device");
  CHECK(read->process.uid == 1000);
  CHECK(read->process.groups.empty());
  CHECK(read->environment.empty());
  CHECK_FALSE(read->paths.contains("/dev/dri/card0"));
  CHECK(read->paths.at("/dev/kfd").gid == 992u);
  CHECK(read->paths.at("/proc/sys/kernel/osrelease").contents == "6.14.0-33-generic\n");
}

TEST_CASE("tables merge key by key through three layers, lists and values are replaced") {
  const TemporaryFolder place;
  place.write("a/capture.toml", std::string(first_line) + R"(
[path."/dev"]
type = "directory"
names = ["x", "y"]
[path."/etc/a"]
text = "from a"
mode = "0600"
[path."/etc/b"]
read_error = "EACCES"
[elf."/lib/l.so"]
soname = "l.so"
needed = ["a"]
version_definitions = ["V_1"]
[elf."/lib/l.so".version_needs]
"liba.so" = ["A_1"]
"libc.so" = ["C_1"]
[elf."/lib/l.so".device_code]
compressed = true
targets = ["gfx906"]
[elf."/lib/l.so".symbols]
one = true
[dxg]
error = "EACCES"
)");
  place.write("b/capture.toml", std::string(first_line) + "extends = \"a\"\n[path.\"/etc/a\"]\nuid = 7\n");
  place.write((fs::path("b") / "root" / "etc" / "b").string(), "from b");
  place.write("c/capture.toml", std::string(first_line) + R"(
extends = "b"
delete = ["/dev/x"]
[path."/etc/a"]
text = "from c"
[elf."/lib/l.so"]
needed = ["c"]
[elf."/lib/l.so".version_needs]
"libc.so" = ["C_2"]
[elf."/lib/l.so".device_code]
targets = ["gfx1201"]
[elf."/lib/l.so".symbols]
two = true
[[dxg.adapter]]
vendor_id = 1
)");
  const Result<Capture> read = read_capture(place.folder() / "c");
  REQUIRE_MESSAGE(read.ok(), read.error().text);
  const CapturedPath& a = read->paths.at("/etc/a");
  CHECK(a.contents == "from c");
  CHECK(a.mode == 0600u);
  CHECK(a.uid == 7u);
  CHECK(read->paths.at("/etc/b").contents == "from b");
  CHECK_FALSE(read->paths.at("/etc/b").read_error.has_value());
  CHECK(read->paths.at("/dev").names == std::vector<std::string>{"y"});
  const ElfFacts& elf = *read->elf.at("/lib/l.so");
  CHECK(elf.soname == "l.so");
  CHECK(elf.needed == std::vector<std::string>{"c"});
  CHECK(elf.symbols == std::map<std::string, bool>{{"one", true}, {"two", true}});
  CHECK(elf.version_needs == std::vector<ElfVersionNeed>{{"liba.so", {"A_1"}}, {"libc.so", {"C_2"}}});
  CHECK(elf.version_definitions == std::vector<std::string>{"V_1"});
  CHECK(elf.device_code == ElfDeviceCode{true, true, true, {"gfx1201"}});
  CHECK(read->dxg_adapters->value().size() == 1);
}

TEST_CASE("what is wrong in a capture.toml is named with file, line and key") {
  const TemporaryFolder place;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"extend = \"x\"", ":2: unknown key 'extend' (did you mean 'extends'?)"},
      {"[process]\nuids = 3", ":3: unknown key 'process.uids' (did you mean 'uid'?)"},
      {"[process]\nuid = -1", ":3: process.uid: expected a whole number from 0 to 4294967295"},
      {"[process]\nuid = 4294967296", ":3: process.uid: expected a whole number from 0 to 4294967295"},
      {"[process]\nuid = 1.0", ":3: process.uid: expected a whole number"},
      {"[process]\ngroups = [1, \"a\"]", ":3: process.groups: expected a list of: a whole number"},
      {"process = 3", ":2: process: expected a table"},
      {"[path.\"dev/kfd\"]", ":2: path.\"dev/kfd\": expected an absolute path"},
      {"[path.\"/dev/../kfd\"]", "expected an absolute path"},
      {"[path.\"/dev/kfd/\"]", "expected an absolute path"},
      {"[path.\"/x\"]\nmode = 660", ":3: path.\"/x\".mode: expected a string of octal digits"},
      {"[path.\"/x\"]\nmode = \"0888\"", "expected a string of octal digits"},
      {"[path.\"/x\"]\nmode = \"777777777777777777777777\"", "expected a string of octal digits"},
      {"[path.\"/x\"]\ntype = \"char-device\"", "expected one of \"file\" \"directory\""},
      {"[path.\"/x\"]\ntype = \"symlink\"", "is a symlink without target"},
      {"[path.\"/x\"]\ntarget = \"y\"", "has a target but is no symlink"},
      {"[path.\"/x\"]\nopen = \"EACESS\"", "expected \"ok\" or an errno name"},
      {"[path.\"/x\"]\nread_error = \"ok\"", "expected an errno name"},
      {"[path.\"/x\"]\nread_error = { number = 3 }", "expected an errno name or a table"},
      {"[path.\"/x\"]\nread_error = {}", "expected 'errno' or 'text'"},
      {"[environment]\nHIP_PATH = 3", ":3: environment.HIP_PATH: expected a string"},
      {"[environment]\nROCMPATH = \"x\"",
       ":3: environment.ROCMPATH: no probe reads this variable (did you mean 'ROCM_PATH'?)"},
      {"[dxg]\nerror = \"EIO\"\nadapter = []", "has both an error and values"},
      {"[dxg]\nadapter = [3]", "expected a list of tables: [[adapter]]"},
      {"[[mount]]\npoint = \"/\"", "has no 'filesystem'"},
      {"[[program]]\nexit_status = 256\narguments = []", "expected a whole number from 0 to 255"},
      {"[[program]]\nexit_status = 2", "has no 'arguments'"},
      {"[system]\nlibc = \"glibc\"", "expected a name and a version"},
      {"delete = [\"dgx\"]", "'dgx' is neither an absolute path"},
      {"extends = \"../other\"", "expected the plain name of a folder beside this one"},
      {"extends = \"\"\n[system", ":3: "},
      {"[=]", ":2: "},
      {"\xc3\xa4 = 1", ":2: a character that must stand in quotes"},
      {"\n[\x01\x01loader_ca\xc8he]", ":3: "},
      {"description = \"\xc8he\"", ":2: "},
      {"[path.\"/a\"]\n[path.\"/a/b\"]", "'/a/b' lies below '/a', which is no directory"},
      {"[path.\"/a\"]\ntype = \"symlink\"\ntarget = \"/b\"\n[elf.\"/a/b\"]", "lies below the symlink '/a'"},
      {"[path.\"/a\"]\ntype = \"directory\"\n[elf.\"/a\"]", "is no regular file"},
  };
  for (const auto& [text, wanted] : cases) {
    place.write("x/capture.toml", first_line + text + "\n");
    const std::string error = error_of(place.folder() / "x");
    CHECK_MESSAGE(contains(error, wanted), error);
    CHECK_MESSAGE(contains(error, "capture.toml"), error);
  }
}

TEST_CASE("version, missing files and unreadable folders are errors that say so") {
  const TemporaryFolder place;
  CHECK(contains(error_of(place.folder() / "none"), "no such file or directory"));
  place.write("x/readme", "");
  CHECK(contains(error_of(place.folder() / "x"), "capture.toml: no such file or directory"));
  place.write("x/capture.toml", "");
  CHECK(contains(error_of(place.folder() / "x"), "has no 'capture_version'"));
  place.write("x/capture.toml", "capture_version = 2");
  CHECK(contains(error_of(place.folder() / "x"), ", but this program reads version 1 only"));
  CHECK(contains(error_of(place.folder() / "x/capture.toml"), "not a directory"));
}

TEST_CASE("a chain of extends ends: at a missing folder, a circle, or the ninth capture") {
  const TemporaryFolder place;
  place.write("a/capture.toml", std::string(first_line) + "extends = \"b\"");
  CHECK(contains(error_of(place.folder() / "a"), "/b: no such file or directory"));
  place.write("b/capture.toml", std::string(first_line) + "extends = \"a\"");
  CHECK(contains(error_of(place.folder() / "a"), "extends itself"));

  for (int i = 1; i <= 9; ++i) {
    const std::string extends = i == 1 ? "" : "extends = \"n" + std::to_string(i - 1) + "\"";
    place.write("n" + std::to_string(i) + "/capture.toml", first_line + extends);
  }
  CHECK(read_capture(place.folder() / "n8").ok());
  CHECK(contains(error_of(place.folder() / "n9"), "a chain of more than 8"));
}

TEST_CASE("nothing in a capture leads out of it") {
  const TemporaryFolder place;
  place.write("secret/password", "hunter2");
  place.write("x/capture.toml", first_line);
  const fs::path tree = place.folder() / "x" / "root";
  fs::create_directories(tree / "etc");

  SUBCASE("a link below root/ is a link of the captured machine") {
    fs::create_symlink(place.folder() / "secret/password", tree / "etc/shadow");
    fs::create_symlink(place.folder() / "secret", tree / "opt");
    const Result<Capture> read = read_capture(place.folder() / "x");
    REQUIRE_MESSAGE(read.ok(), read.error().text);
    CHECK(read->paths.at("/etc/shadow").type == FileType::symlink);
    CHECK_FALSE(read->paths.contains("/opt/password"));
    CHECK(make_captured_host(*read)->read_file("/etc/shadow").error().number == ENOENT);
  }
  SUBCASE("root/ itself is no link") {
    fs::remove_all(place.folder() / "x/root");
    fs::create_symlink(place.folder() / "secret", place.folder() / "x/root");
    CHECK(contains(error_of(place.folder() / "x"), "root: not a folder"));
  }
  SUBCASE("capture.toml is no link") {
    fs::remove(place.folder() / "x/capture.toml");
    fs::create_symlink(place.folder() / "secret/password", place.folder() / "x/capture.toml");
    CHECK(contains(error_of(place.folder() / "x"), "a symbolic link is not followed here"));
  }
  SUBCASE("an extended capture is no link") {
    place.write("x/capture.toml", std::string(first_line) + "extends = \"y\"");
    fs::create_symlink(place.folder() / "secret", place.folder() / "y");
    CHECK(error_of(place.folder() / "x") != "no error");
  }
  SUBCASE("a FIFO is refused, not waited for") {
    REQUIRE(::mkfifo((place.folder() / "x" / "root" / "etc" / "pipe").c_str(), 0600) == 0);
    CHECK(contains(error_of(place.folder() / "x"), "neither file, folder nor link"));
  }
}

TEST_CASE("a capture can't bring in more than its caps allow") {
  const TemporaryFolder place;
  place.write("x/capture.toml", first_line);
  SUBCASE("bytes") {
    place.write(std::string("x/root") + "/big", "");
    fs::resize_file(place.folder() / "x" / "root" / "big", std::uintmax_t{65} * 1024 * 1024);
    CHECK(contains(error_of(place.folder() / "x"), "bytes that are left for it"));
  }
  SUBCASE("depth") {
    std::string deep = "x/root";
    for (int i = 0; i < 70; ++i) deep += "/d";
    place.write(deep + "/f", "");
    CHECK(contains(error_of(place.folder() / "x"), "too deep a folder"));
  }
  SUBCASE("nesting of capture.toml") {
    place.write("x/capture.toml", first_line + ("a = " + std::string(100000, '[')));
    CHECK(contains(error_of(place.folder() / "x"), ":2: "));
  }
}

TEST_CASE("empty folders below root/ are folders") {
  const TemporaryFolder place;
  place.write("x/capture.toml", first_line);
  fs::create_directories(place.folder() / "x" / "root" / "opt" / "rocm");
  const Result<Capture> read = read_capture(place.folder() / "x");
  REQUIRE(read.ok());
  CHECK(make_captured_host(*read)->list_folder("/opt") == std::vector<std::string>{"rocm"});
}

}  // namespace sage
