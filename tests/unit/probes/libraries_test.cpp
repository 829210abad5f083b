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

}  // namespace sage
