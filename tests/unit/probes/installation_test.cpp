#include "probes/installation.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "probes/base/text.hpp"
#include "probes/installed_manifest.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

constexpr auto prefix = "/home/u/.local/share/sage-doctor";
constexpr auto version = "/home/u/.local/share/sage-doctor/versions/one";

constexpr auto manifest = R"({
  "version": 1, "tool_version": "0.1.0", "mark": "a mark", "source_sha256": "abc", "library": {"file": "lib/library.so"},
  "targets": [{"target": "gfx1201", "kernels": [{"file": "kernels/a.hsaco"}, {"file": "kernels/b.hsaco"}]}],
  "other_files": [{"file": "include/header.h"}], "accuracy": [{"anything": 1}]})";

MemoryHost machine(const std::string& text = manifest) {
  MemoryHost host;
  host.identity.home = "/home/u";
  host.link(std::string(prefix) + "/current", "versions/one");
  host.file(std::string(version) + "/manifest.json", text);
  for (const char* file : {"lib/library.so", "kernels/a.hsaco", "kernels/b.hsaco", "include/header.h"}) {
    host.file(std::string(version) + "/" + file, "x");
  }
  return host;
}

/// Why the manifest can't be used, for the manifest with one piece of its text replaced.
std::string defect_with(const std::string& piece, const std::string& other) {
  std::string text = manifest;
  const std::size_t at = text.find(piece);
  REQUIRE(at != std::string::npos);
  text.replace(at, piece.size(), other);
  return *probe_installation(machine(text), {}).defect;
}

}  // namespace

TEST_CASE("the folder of installations is named by XDG_DATA_HOME, else by the home folder") {
  MemoryHost host;
  CHECK(default_prefix(host) == "");
  host.identity.home = "/home/u";
  CHECK(default_prefix(host) == prefix);
  host.variables["XDG_DATA_HOME"] = "relative";
  CHECK(default_prefix(host) == prefix);
  host.variables["XDG_DATA_HOME"] = "/data/\xc3\xbc x";
  CHECK(default_prefix(host) == "/data/\xc3\xbc x/sage-doctor");
}

TEST_CASE("without an installation only that is known") {
  MemoryHost host;
  host.identity.home = "/home/u";
  const Installation none = probe_installation(host, {});
  CHECK(none.prefix.is(prefix));
  CHECK(none.present.is(false));
  CHECK_FALSE(none.targets.known());
  CHECK_FALSE(none.defect.known());
  const Installation homeless = probe_installation(MemoryHost(), {});
  CHECK(homeless.prefix.is(""));
  CHECK(homeless.present.is(false));
}

TEST_CASE("an installation says what its manifest says") {
  ProbeOptions options;
  options.kernel_source_sha256 = "def";
  const Installation found = probe_installation(machine(), options);
  CHECK(found.present.is(true));
  CHECK(found.version.is("one"));
  CHECK(found.defect.is(""));
  CHECK(found.tool_version.is("0.1.0"));
  CHECK(found.mark.is("a mark"));
  CHECK(found.source_sha256.is("abc"));
  CHECK(found.program_source_sha256.is("def"));
  CHECK(*found.targets == std::vector<std::string>{"gfx1201"});
  CHECK(found.missing_files->empty());
}

TEST_CASE("files that are gone are named, also when their folder is gone with them") {
  MemoryHost host = machine();
  host.entries.erase(std::string(version) + "/kernels/b.hsaco");
  host.entries.erase(std::string(version) + "/include/header.h");
  CHECK(*probe_installation(host, {}).missing_files == std::vector<std::string>{"kernels/b.hsaco", "include/header.h"});
}

TEST_CASE("a manifest that is gone or says nothing is a defect, one that can't be read is unknown") {
  MemoryHost host = machine();
  host.entries.erase(std::string(version) + "/manifest.json");
  CHECK(contains(*probe_installation(host, {}).defect, "manifest.json"));
  CHECK_FALSE(probe_installation(host, {}).targets.known());

  CHECK(contains(defect_with("\"version\": 1", "\"version\": 2"), "version: 2 is not one that this sage-doctor knows"));
  CHECK(contains(defect_with("{", "("), "it is no JSON"));
  CHECK(contains(defect_with("\"gfx1201\"", "7"), "targets[0].target: expected a string"));
  CHECK(contains(defect_with("kernels/a.hsaco", "../../../.ssh/id"), "not below the installation"));
  CHECK(contains(defect_with("lib/library.so", "/etc/passwd"), "not below the installation"));

  host = machine();
  host.unreadable(std::string(version) + "/manifest.json", EACCES);
  const Installation closed = probe_installation(host, {});
  CHECK(closed.present.is(true));
  REQUIRE_FALSE(closed.defect.known());
  CHECK(closed.defect.why_unknown().number == EACCES);
}

TEST_CASE("whether there is an installation is unknown when the folder can't be looked at") {
  MemoryHost host;
  host.identity.home = "/home/u";
  host.failing(std::string(prefix) + "/current", EACCES);
  CHECK_FALSE(probe_installation(host, {}).present.known());
}

}  // namespace sage
