#include "probes/environment.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

using Value = std::optional<std::string>;

/// "variable path yes|no|unknown" for each named path.
std::vector<std::string> paths_of(const MemoryHost& host) {
  std::vector<std::string> texts;
  const Environment environment = probe_environment(host, {});
  for (const NamedPath& path : *environment.named_paths) {
    const char* there = !path.exists.known() ? "unknown" : *path.exists ? "yes" : "no";
    texts.push_back(path.variable + " " + path.path + " " + there);
  }
  return texts;
}

}  // namespace

TEST_CASE("every allowed variable is there, set, empty or not set") {
  MemoryHost host;
  host.variables = {{"HSA_OVERRIDE_GFX_VERSION", ""}, {"ROCM_PATH", "/opt/rocm"}};
  const Environment environment = probe_environment(host, {});
  CHECK(environment.variables.size() == allowed_environment_names().size());
  CHECK(environment.get("HSA_OVERRIDE_GFX_VERSION").is(Value("")));
  CHECK(environment.get("ROCM_PATH").is(Value("/opt/rocm")));
  CHECK(environment.get("HIP_PATH").is(Value()));
  CHECK_FALSE(environment.get("GITHUB_TOKEN").known());
}

TEST_CASE("per-node overrides that are set come after the list") {
  MemoryHost host;
  host.variables = {{"HSA_OVERRIDE_GFX_VERSION_1", "11.0.0"}};
  const Environment environment = probe_environment(host, {});
  CHECK(environment.variables.size() == allowed_environment_names().size() + 1);
  CHECK(environment.variables.back().name == "HSA_OVERRIDE_GFX_VERSION_1");
  CHECK(environment.get("HSA_OVERRIDE_GFX_VERSION_1").is(Value("11.0.0")));
}

TEST_CASE("assignments are known and empty only when every start-up file could be read") {
  MemoryHost host;
  host.identity.home = "/home/ada";
  host.file("/home/ada/.profile", "export ROCM_PATH=/opt/rocm\n");
  Environment environment = probe_environment(host, {});
  CHECK(environment.find("ROCM_PATH")->assignments->at(0).file == "/home/ada/.profile");
  CHECK(environment.find("HIP_PATH")->assignments->empty());
  CHECK_FALSE(environment.find("PATH")->assignments.known());

  host.unreadable("/home/ada/.bashrc", EACCES);
  environment = probe_environment(host, {});
  CHECK(environment.find("ROCM_PATH")->assignments->size() == 1);
  CHECK(environment.find("HIP_PATH")->assignments.why_unknown().number == EACCES);
}

TEST_CASE("the paths that variables name are looked for") {
  MemoryHost host;
  host.folder("/opt/rocm").folder("/home/ada/lib").file("/lib/a.so", "");
  host.identity.working_folder = "/home/ada";
  host.variables = {{"ROCM_PATH", "/opt/rocm"},
                    {"HIP_PATH", ""},
                    {"LD_LIBRARY_PATH", "/opt/rocm::lib;/none:$ORIGIN/x"},
                    {"LD_PRELOAD", "/lib/a.so libb.so:/lib/c.so"}};
  CHECK(paths_of(host) == std::vector<std::string>{"ROCM_PATH /opt/rocm yes", "HIP_PATH  unknown",
                                                   "LD_LIBRARY_PATH /opt/rocm yes", "LD_LIBRARY_PATH  unknown",
                                                   "LD_LIBRARY_PATH lib yes", "LD_LIBRARY_PATH /none no",
                                                   "LD_LIBRARY_PATH $ORIGIN/x unknown", "LD_PRELOAD /lib/a.so yes",
                                                   "LD_PRELOAD libb.so unknown", "LD_PRELOAD /lib/c.so no"});
}

TEST_CASE("an empty list names no paths, and a path that can't be looked at is unknown") {
  MemoryHost host;
  host.variables = {{"LD_LIBRARY_PATH", ""}, {"LD_PRELOAD", ""}};
  CHECK(paths_of(host).empty());
  host.failing("/locked", EACCES).variables["ROCM_HOME"] = "/locked";
  CHECK(paths_of(host) == std::vector<std::string>{"ROCM_HOME /locked unknown"});
  host.variables["ROCM_HOME"] = "relative";
  CHECK(paths_of(host) == std::vector<std::string>{"ROCM_HOME relative unknown"});
}

}  // namespace sage
