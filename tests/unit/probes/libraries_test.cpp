#include "probes/libraries.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "probes/python.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

ElfFacts elf_of(std::string soname, std::string build_id = "") {
  ElfFacts elf;
  elf.machine = "x86_64";
  elf.soname = std::move(soname);
  elf.build_id = std::move(build_id);
  return elf;
}

void library(MemoryHost& host, const std::string& path, ElfFacts elf) {
  host.file(path, path);
  host.elf_files[path] = std::move(elf);
}

Libraries probe(const Host& host, bool deep = false) {
  ProbeOptions options;
  options.deep = deep;
  Python python;
  python.environments = std::vector<PythonEnvironment>{};
  return probe_libraries(host, options, python);
}

MemoryHost with_rocm() {
  MemoryHost host;
  host.file("/opt/rocm-7.2.0/.info/version", "7.2.0-47\n");
  library(host, "/opt/rocm-7.2.0/lib/libamdhip64.so.7.2.70200", elf_of("libamdhip64.so.7", "aa"));
  host.link("/opt/rocm-7.2.0/lib/libamdhip64.so.7", "libamdhip64.so.7.2.70200");
  host.link("/opt/rocm-7.2.0/lib/libamdhip64.so", "libamdhip64.so.7");
  return host;
}

}  // namespace

TEST_CASE("several names of one file are one copy with its version and SONAME") {
  const Libraries libraries = probe(with_rocm());
  REQUIRE(libraries.copies.known());
  REQUIRE(libraries.copies->size() == 1);
  const LibraryCopy& copy = libraries.copies->front();
  CHECK(copy.path == "/opt/rocm-7.2.0/lib/libamdhip64.so");
  CHECK(copy.library.is(RuntimeLibrary::amdhip64));
  CHECK(copy.other_paths.is({"/opt/rocm-7.2.0/lib/libamdhip64.so.7"}));
  CHECK(copy.soname.is("libamdhip64.so.7"));
  CHECK(copy.rocm_version.is("7.2.0"));
  CHECK(copy.origin.is(LibraryOrigin::rocm_root));
  CHECK(copy.in_loader_cache.is(false));
}

TEST_CASE("files with the same build-id are one copy, with another they are two") {
  MemoryHost host = with_rocm();
  host.variables["LD_LIBRARY_PATH"] = "/copy";
  library(host, "/copy/libamdhip64.so.7", elf_of("libamdhip64.so.7", "aa"));
  const Libraries same = probe(host);
  REQUIRE(same.copies->size() == 1);
  CHECK(same.copies->front().other_paths->back() == "/copy/libamdhip64.so.7");
  CHECK(same.copies->front().in_library_path.is(true));
  library(host, "/copy/libamdhip64.so.7", elf_of("libamdhip64.so.7", "bb"));
  CHECK(probe(host).copies->size() == 2);
}

TEST_CASE("a folder of ld.so.conf counts before ldconfig was run") {
  MemoryHost host;
  host.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  host.file("/etc/ld.so.conf.d/rocm.conf", "# ROCm\n/srv/rocm/lib  # here\n");
  library(host, "/srv/rocm/lib/libhsa-runtime64.so.1", elf_of("libhsa-runtime64.so.1"));
  const Libraries libraries = probe(host);
  REQUIRE(libraries.copies->size() == 1);
  CHECK(libraries.copies->front().path == "/srv/rocm/lib/libhsa-runtime64.so.1");
  CHECK_FALSE(libraries.copies->front().origin.known());
}

TEST_CASE("a plain program gets the copy that the loader's cache leads to") {
  MemoryHost host = with_rocm();
  REQUIRE(probe(host).predictions->size() == 1);
  CHECK(probe(host).predictions->front().missing.is({"libamdhip64.so.7"}));
  host.cache = std::vector<LoaderCacheEntry>{{"libamdhip64.so.7", "/opt/rocm-7.2.0/lib/libamdhip64.so.7"}};
  const Libraries libraries = probe(host);
  REQUIRE(libraries.predictions->size() == 1);
  const LoadPrediction& program = libraries.predictions->front();
  CHECK(program.scenario.is(LoadScenario::program));
  REQUIRE(program.copies->size() == 1);
  CHECK(program.copies->front().path == "/opt/rocm-7.2.0/lib/libamdhip64.so");
  CHECK(program.copies->front().rule.is("ld.so.cache"));
  CHECK(libraries.copies->front().in_loader_cache.is(true));
}

TEST_CASE("of a version that the copy lacks it is told whether the system's has it") {
  MemoryHost host = with_rocm();
  ElfFacts hip = elf_of("libamdhip64.so.7", "aa");
  hip.needed = {"libstdc++.so.6"};
  hip.version_needs = {{"libstdc++.so.6", {"GLIBCXX_3.4", "GLIBCXX_3.4.30"}}};
  library(host, "/opt/rocm-7.2.0/lib/libamdhip64.so.7.2.70200", hip);
  ElfFacts older = elf_of("libstdc++.so.6");
  older.version_definitions = {"GLIBCXX_3.4"};
  library(host, "/old/libstdc++.so.6", older);
  ElfFacts newer = older;
  newer.version_definitions.emplace_back("GLIBCXX_3.4.30");
  library(host, "/usr/lib/libstdc++.so.6", newer);
  host.variables["LD_LIBRARY_PATH"] = "/old";
  host.cache = std::vector<LoaderCacheEntry>{{"libamdhip64.so.7", "/opt/rocm-7.2.0/lib/libamdhip64.so.7"},
                                             {"libstdc++.so.6", "/usr/lib/libstdc++.so.6"}};
  const auto gaps = [&] { return *probe(host).predictions->front().unmet_versions; };
  REQUIRE(gaps().size() == 1);
  CHECK(gaps().front().library.is("/old/libstdc++.so.6"));
  CHECK(gaps().front().version.is("GLIBCXX_3.4.30"));
  CHECK(gaps().front().served_by.is("/usr/lib/libstdc++.so.6"));
  host.elf_files["/usr/lib/libstdc++.so.6"] = older;
  CHECK(gaps().front().served_by.is(""));
  host.elf_files["/usr/lib/libstdc++.so.6"] = newer;
  host.variables.clear();
  CHECK(gaps().empty());
}

TEST_CASE("nothing is predicted for a C library with other rules") {
  MemoryHost host = with_rocm();
  host.libc_info = LibcInfo{"musl", "1.2.5"};
  CHECK_FALSE(probe(host).predictions.known());
}

TEST_CASE("processes are looked at only when asked, and only the user's own") {
  MemoryHost host;
  host.identity.uid = 1000;
  for (const char* pid : {"/proc/10", "/proc/11", "/proc/12"}) {
    host.folder(pid);
    host.entries[pid].status.uid = 1000;
    host.file(pid + std::string("/comm"), "python3\n");
  }
  host.entries["/proc/12"].status.uid = 0;
  const std::string mapped = "7f00-7f01 r-xp 0 00:01 5  /opt/rocm/lib/libamdhip64.so.7\n";
  host.file("/proc/10/maps", mapped + mapped + "7f02-7f03 r-xp 0 00:01 6  /usr/lib/libc.so.6\n");
  host.file("/proc/11/maps", "7f02-7f03 r-xp 0 00:01 6  /usr/lib/libc.so.6\n");
  host.file("/proc/12/maps", mapped);
  CHECK_FALSE(probe(host).processes.known());
  const Libraries libraries = probe(host, true);
  REQUIRE(libraries.processes.known());
  REQUIRE(libraries.processes->size() == 1);
  CHECK(libraries.processes->front().name == "python3");
  CHECK(libraries.processes->front().paths.is({"/opt/rocm/lib/libamdhip64.so.7"}));
}

namespace {

const std::string site = "/home/u/venv/lib/python3.12/site-packages";

/// An activated environment with a thin PyTorch and Triton beside a ROCm that nothing but a search path leads to.
MemoryHost with_thin_torch() {
  MemoryHost host;
  host.variables = {{"VIRTUAL_ENV", "/home/u/venv"}, {"PATH", "/home/u/venv/bin:/usr/bin"}};
  library(host, "/usr/bin/python3.12", {});
  host.file("/home/u/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n");
  host.link("/home/u/venv/bin/python3", "/usr/bin/python3.12");
  host.file(site + "/torch/version.py", "__version__ = '2.13.0+rocm7.14.0'\nhip = '7.14.60850'\n");
  ElfFacts torch = elf_of("libtorch_hip.so");
  torch.needed = {"libamdhip64.so.7"};
  torch.rpath = {site + "/_rocm_sdk_core/lib"};
  library(host, site + "/torch/lib/libtorch_hip.so", torch);
  library(host, site + "/_rocm_sdk_core/lib/libamdhip64.so.7", elf_of("libamdhip64.so.7", "cc"));
  library(host, "/srv/rocm/lib/libamdhip64.so", elf_of("libamdhip64.so.7", "dd"));
  return host;
}

std::vector<std::string> copies_in(const Host& host, LoadScenario scenario) {
  const Libraries libraries = probe_libraries(host, {}, probe_python(host));
  REQUIRE(libraries.predictions.known());
  for (const LoadPrediction& prediction : *libraries.predictions) {
    if (!prediction.scenario.is(scenario)) continue;
    std::vector<std::string> found;
    for (const LoadedCopy& copy : *prediction.copies) found.push_back(copy.path);
    return found;
  }
  FAIL("no such prediction");
  return {};
}

const std::string of_core = site + "/_rocm_sdk_core/lib/libamdhip64.so.7";

}  // namespace

TEST_CASE("a plain name is searched for by the search path of the module that ctypes is in") {
  MemoryHost host = with_thin_torch();
  CHECK(copies_in(host, LoadScenario::bare_name) == std::vector<std::string>{of_core});
  ElfFacts ctypes = elf_of("");
  ctypes.runpath = {"/srv/rocm/lib"};
  library(host, "/usr/lib/python3.12/lib-dynload/_ctypes.cpython-312-x86_64-linux-gnu.so", ctypes);
  CHECK(copies_in(host, LoadScenario::bare_name) ==
        std::vector<std::string>{of_core, "/srv/rocm/lib/libamdhip64.so"});
}

TEST_CASE("an extension's own search path counts only for what PyTorch has not loaded") {
  MemoryHost host = with_thin_torch();
  ElfFacts extension;
  extension.runpath = {"/srv/rocm/lib"};
  extension.needed = {"libamdhip64.so.7"};
  const std::string path = site + "/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so";
  library(host, path, extension);
  CHECK(copies_in(host, LoadScenario::torch_then_extension) == std::vector<std::string>{of_core});
  extension.needed = {"libamdhip64.so"};  // PyTorch's is loaded under another name
  library(host, path, extension);
  CHECK(copies_in(host, LoadScenario::torch_then_extension) ==
        std::vector<std::string>{of_core, "/srv/rocm/lib/libamdhip64.so"});
}

TEST_CASE("Triton takes what its own version looks for first") {
  MemoryHost host = with_thin_torch();
  host.file(site + "/triton/__init__.py", "__version__ = '3.8.0'\n");
  host.folder(site + "/triton-3.8.0.dist-info");
  const std::string driver = site + "/triton/backends/amd/driver.py";
  host.file(driver, "env_libhip_path.endswith(lib_name)\n");
  CHECK(copies_in(host, LoadScenario::triton) == std::vector<std::string>{of_core});  // the one that is mapped

  // Another SDK stands first: a Triton that asks rocm_sdk takes that one although torch has loaded its own.
  const std::string other = "/home/u/project/_rocm_sdk_core/lib/libamdhip64.so.7";
  host.variables["PYTHONPATH"] = "/home/u/project";
  library(host, other, elf_of("libamdhip64.so.7", "ff"));
  CHECK(copies_in(host, LoadScenario::triton) == std::vector<std::string>{of_core});
  host.file(driver, "env_libhip_path.endswith(lib_name)\nrocm_sdk.find_libraries(\"amdhip64\")\n");
  CHECK(copies_in(host, LoadScenario::triton) == std::vector<std::string>{of_core, other});
}

TEST_CASE("TRITON_LIBHIP_PATH with a number counts for the Tritons that take it") {
  MemoryHost host = with_thin_torch();
  host.file(site + "/triton/__init__.py", "__version__ = '3.9.0'\n");
  host.folder(site + "/triton-3.9.0.dist-info");
  library(host, "/srv/rocm/lib/libamdhip64.so.7.3", elf_of("libamdhip64.so.7", "dd"));
  host.variables["TRITON_LIBHIP_PATH"] = "/srv/rocm/lib/libamdhip64.so.7.3";
  const std::string driver = site + "/triton/backends/amd/driver.py";
  host.file(driver, "Path(env_libhip_path).name.startswith(lib_name)\n");
  CHECK(copies_in(host, LoadScenario::triton).size() == 2);
  host.file(driver, "env_libhip_path.endswith(lib_name)\n");
  CHECK(copies_in(host, LoadScenario::triton).size() == 1);
}

}  // namespace sage
