#include "probes/startup_files.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

std::string in_line(std::string_view line, StartupSyntax syntax = StartupSyntax::script) {
  std::string text;
  for (const NamedValue& set : assignments_in_line(line, syntax)) text += "[" + set.name + "=" + set.value + "]";
  return text;
}

}  // namespace

TEST_CASE("assignments of every shell are recognised") {
  CHECK(in_line("export HSA_OVERRIDE_GFX_VERSION=\"11.0.0\"") == "[HSA_OVERRIDE_GFX_VERSION=11.0.0]");
  CHECK(in_line("  ROCM_PATH='/opt/my rocm' HIP_PATH=/x # why") == "[ROCM_PATH=/opt/my rocm][HIP_PATH=/x]");
  CHECK(in_line("setenv HIP_VISIBLE_DEVICES 1") == "[HIP_VISIBLE_DEVICES=1]");
  CHECK(in_line("set -gx PYTORCH_ROCM_ARCH gfx1100 gfx1201") == "[PYTORCH_ROCM_ARCH=gfx1100 gfx1201]");
  CHECK(in_line("set --global --export HIP_PATH /x") == "[HIP_PATH=/x]");
  CHECK(in_line("declare -x ROCM_PATH=/x") == "[ROCM_PATH=/x]");
  CHECK(in_line("if [ -d /opt ]; then export ROCM_PATH=/x; fi") == "[ROCM_PATH=/x]");
  CHECK(in_line("export LD_LIBRARY_PATH=/x${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}") ==
        "[LD_LIBRARY_PATH=/x${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}]");
  CHECK(in_line("export ROCM_PATH=") == "[ROCM_PATH=]");
  CHECK(in_line("HSA_OVERRIDE_GFX_VERSION_1=11.0.0") == "[HSA_OVERRIDE_GFX_VERSION_1=11.0.0]");
  CHECK(in_line("LD_LIBRARY_PATH+=:/x") == "[LD_LIBRARY_PATH=:/x]");
}

TEST_CASE("comments, prefixes of a command and what is not exported set nothing") {
  CHECK(in_line("# export ROCM_PATH=/x") == "");
  CHECK(in_line("HIP_VISIBLE_DEVICES=1 python x.py") == "");
  CHECK(in_line("export -n ROCM_PATH=/x") == "");
  CHECK(in_line("set -e ROCM_PATH") == "");
  CHECK(in_line("set -x") == "");
  CHECK(in_line("declare ROCM_PATH=/x") == "");
  CHECK(in_line("echo export ROCM_PATH=/x") == "");
  CHECK(in_line("export ROCM_PATH") == "");
  CHECK(in_line("setenv") == "");
  CHECK(in_line("unset ROCM_PATH; 1ROCM_PATH=x; =x") == "");
}

TEST_CASE("variables that a session sets, and those that nobody may look at, are left alone") {
  CHECK(in_line("export PATH=/x HOME=/y LANG=C GITHUB_TOKEN=abc ROCM_PATH=/x") == "[ROCM_PATH=/x]");
  CHECK_FALSE(looked_for_in_startup_files("PATH"));
  CHECK_FALSE(looked_for_in_startup_files("GITHUB_TOKEN"));
  CHECK(looked_for_in_startup_files("ROCM_PATH"));
}

TEST_CASE("a list file takes the value to the end of the line") {
  CHECK(in_line("ROCM_PATH=/opt/my rocm ", StartupSyntax::list) == "[ROCM_PATH=/opt/my rocm]");
  CHECK(in_line("export HIP_PATH=\"/x\" # why", StartupSyntax::list) == "[HIP_PATH=/x]");
  CHECK(in_line("# HIP_PATH=/x", StartupSyntax::list) == "");
  CHECK(in_line("nonsense", StartupSyntax::list) == "");
}

TEST_CASE("assignments are found in the files of system and user, with file and line") {
  MemoryHost host;
  host.identity.home = "/home/ada";
  host.file("/etc/environment", "PATH=/bin\nHSA_OVERRIDE_GFX_VERSION=10.3.0\n");
  host.file("/etc/profile.d/rocm.sh", "export ROCM_PATH=/opt/rocm");
  host.file("/etc/profile.d/rocm.csh", "setenv ROCM_PATH /other");
  host.file("/home/ada/.bashrc", "\n\nexport HSA_OVERRIDE_GFX_VERSION=11.0.0\n");
  host.file("/home/ada/.config/environment.d/10-rocm.conf", "HIP_PATH=/x\n");
  host.file("/home/ada/.config/fish/config.fish", "set -gx HIP_PLATFORM amd\n");
  const StartupAssignments found = probe_startup_files(host);
  CHECK_FALSE(found.error);
  const auto& overrides = found.by_name.at("HSA_OVERRIDE_GFX_VERSION");
  REQUIRE(overrides.size() == 2);
  CHECK(overrides[0].file == "/etc/environment");
  CHECK(overrides[0].line == 2);
  CHECK(overrides[1].file == "/home/ada/.bashrc");
  CHECK(overrides[1].line == 3);
  CHECK(overrides[1].value == "11.0.0");
  CHECK(found.by_name.at("ROCM_PATH").size() == 1);
  CHECK(found.by_name.at("HIP_PATH")[0].value == "/x");
  CHECK(found.by_name.at("HIP_PLATFORM")[0].value == "amd");
}

TEST_CASE("a file that can't be read, and an unknown home, are remembered as the reason") {
  MemoryHost host;
  host.identity.home = "/home/ada";
  host.unreadable("/home/ada/.profile", EACCES);
  CHECK(probe_startup_files(host).error->number == EACCES);
  host.identity.home.clear();
  CHECK(probe_startup_files(host).error->text.find("home") != std::string::npos);
}

TEST_CASE("what a capture keeps of a start-up file says the same and holds no secret") {
  const std::string text = "export TOKEN=abc ROCM_PATH='it'\\''s'; HIP_PATH=\"a b\"\n# TOKEN\n\nset -gx MAX_JOBS 4 5\n";
  const std::string kept = only_looked_for(text, StartupSyntax::script);
  CHECK(kept.find("TOKEN") == std::string::npos);
  MemoryHost before;
  MemoryHost after;
  before.file("/etc/profile", text);
  after.file("/etc/profile", kept);
  const auto expected = probe_startup_files(before).by_name;
  const auto replayed = probe_startup_files(after).by_name;
  REQUIRE(expected.size() == 3);
  REQUIRE(replayed.size() == 3);
  for (const auto& [name, set] : expected) {
    CHECK(replayed.at(name)[0].value == set[0].value);
    CHECK(replayed.at(name)[0].line == set[0].line);
  }
  CHECK(only_looked_for("A=1\nMAX_JOBS=two words\n", StartupSyntax::list) == "\nexport MAX_JOBS='two words'\n");
  CHECK(in_line("export MAX_JOBS='two words'", StartupSyntax::list) == "[MAX_JOBS=two words]");
}

}  // namespace sage
