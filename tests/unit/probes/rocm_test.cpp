#include "probes/python.hpp"
#include "probes/rocm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

/// Remembers which ELF files were asked for strings, that is read in full.
class ElfHost : public MemoryHost {
 public:
  mutable std::vector<std::string> searched;

  Result<ElfFacts> elf(const std::string& path, const ElfQuery& query) const override {
    if (!query.strings.empty()) searched.push_back(path);
    const auto known = elf_files.find(path);
    if (known == elf_files.end()) return system_error(ENOEXEC, path);
    return known->second;
  }
};

Rocm probe(const Host& host, PlatformKind kind = PlatformKind::bare_metal, const std::string& folder = "") {
  Platform platform;
  platform.kind = kind;
  ProbeOptions options;
  if (!folder.empty()) options.search_folders = {folder};
  return probe_rocm(host, options, platform, probe_python(host));
}

const std::vector<HsaCopy>& hsa_of(const Rocm& rocm) {
  REQUIRE(rocm.hsa.known());
  return rocm.hsa.value();
}

/// /opt/rocm -> /opt/rocm-7.2.0 with its runtime as the packages install it.
void add_rocm(MemoryHost& host) {
  host.link("/opt/rocm", "rocm-7.2.0");
  host.file("/opt/rocm-7.2.0/.info/version", "7.2.0-47\n");
  host.file("/opt/rocm-7.2.0/lib/libhsa-runtime64.so.1.18.70200", "elf");
  host.link("/opt/rocm-7.2.0/lib/libhsa-runtime64.so.1", "libhsa-runtime64.so.1.18.70200");
  host.link("/opt/rocm-7.2.0/lib/libhsa-runtime64.so", "libhsa-runtime64.so.1");
  host.elf_files["/opt/rocm-7.2.0/lib/libhsa-runtime64.so.1"].runpath = {"$ORIGIN", "${ORIGIN}/llvm/lib", "/else"};
  host.elf_files["/opt/rocm-7.2.0/lib/libhsa-runtime64.so"].runpath = {"$ORIGIN", "${ORIGIN}/llvm/lib", "/else"};
}

}  // namespace

TEST_CASE("a machine without ROCm has known and empty lists") {
  MemoryHost host;
  const Rocm rocm = probe(host);
  REQUIRE(rocm.roots.known());
  CHECK(rocm.roots->empty());
  CHECK(hsa_of(rocm).empty());
  REQUIRE(rocm.rocdxg.known());
  CHECK(rocm.rocdxg->empty());
}

TEST_CASE("an /opt that can't be listed leaves empty lists unknown") {
  MemoryHost host;
  host.unreadable("/opt", EACCES);
  CHECK_FALSE(probe(host).roots.known());
  CHECK_FALSE(probe(host).hsa.known());
  host.file("/usr/lib64/libhsa-runtime64.so.1", "elf");
  CHECK(hsa_of(probe(host)).size() == 1);
}

TEST_CASE("a tree with several names is one tree, a runtime with several names one copy") {
  ElfHost host;
  add_rocm(host);
  host.cache = std::vector<LoaderCacheEntry>{{"libhsa-runtime64.so.1", "/opt/rocm/lib/libhsa-runtime64.so.1"}};
  host.variables["LD_LIBRARY_PATH"] = "/opt/rocm/lib";
  const Rocm rocm = probe(host, PlatformKind::bare_metal, "/opt/rocm");
  REQUIRE(rocm.roots.known());
  REQUIRE(rocm.roots->size() == 1);
  CHECK(rocm.roots->front().path == "/opt/rocm-7.2.0");
  CHECK(rocm.roots->front().version.is("7.2.0"));
  REQUIRE(hsa_of(rocm).size() == 1);
  const HsaCopy& copy = hsa_of(rocm).front();
  CHECK(copy.path.starts_with("/opt/rocm-7.2.0/lib/libhsa-runtime64.so"));
  CHECK(copy.origin.is(LibraryOrigin::rocm_root));
  CHECK(copy.rocm_version.is("7.2.0"));
  CHECK(copy.version_source.is("/opt/rocm-7.2.0/.info/version"));
  CHECK(copy.runpath.is({"/opt/rocm-7.2.0/lib", "/opt/rocm-7.2.0/lib/llvm/lib", "/else"}));
}

TEST_CASE("what a runtime contains is looked for only under WSL") {
  ElfHost host;
  add_rocm(host);
  for (auto& [path, facts] : host.elf_files) facts.strings = {{"librocdxg", true}, {"D3DKMT", false}};
  const HsaCopy off_wsl = hsa_of(probe(host)).front();
  CHECK(host.searched.empty());
  CHECK_FALSE(off_wsl.names_rocdxg.known());
  CHECK(off_wsl.names_rocdxg.why_unknown().text == "not WSL");
  const HsaCopy on_wsl = hsa_of(probe(host, PlatformKind::wsl2)).front();
  CHECK(host.searched.size() == 1);
  CHECK(on_wsl.names_rocdxg.is(true));
  CHECK(on_wsl.names_d3dkmt.is(false));
}

TEST_CASE("a runtime that is no ELF file is a copy that does not tell") {
  ElfHost host;
  host.file("/usr/lib64/libhsa-runtime64.so.1", "text");
  const HsaCopy copy = hsa_of(probe(host, PlatformKind::wsl2)).front();
  CHECK(copy.origin.is(LibraryOrigin::distribution));
  CHECK(copy.names_rocdxg.why_unknown().number == ENOEXEC);
  CHECK_FALSE(copy.runpath.known());
  CHECK_FALSE(copy.rocm_version.known());
}

TEST_CASE("a tree's version is what its version file begins with") {
  MemoryHost host;
  host.file("/opt/rocm-6.3.4/.info/version-dev", "6.3.4-76\n");
  host.file("/opt/rocm-9/.info/version", "nightly\n");
  host.folder("/opt/rocm-empty");
  host.file("/opt/rocm-file", "not a folder").folder("/opt/rocmless");
  const Rocm rocm = probe(host);
  REQUIRE(rocm.roots->size() == 3);
  CHECK(rocm.roots->at(0).version.is("6.3.4"));
  CHECK(rocm.roots->at(1).version.why_unknown().text == "/opt/rocm-9/.info/version: not a version");
  CHECK(rocm.roots->at(2).version.why_unknown().number == ENOENT);
}

TEST_CASE("torch's own runtime takes the version of the wheel") {
  MemoryHost host;
  const std::string torch = "/venv/lib/python3.12/site-packages/torch";
  host.variables["VIRTUAL_ENV"] = "/venv";
  host.file(torch + "/lib/libhsa-runtime64.so", "elf").link("/venv/lib64", "lib");
  SUBCASE("by hip, whose third number is a build number") {
    host.file(torch + "/version.py",
              "from typing import Optional\n__version__ = '2.6.0'\ncuda: Optional[str] = None\n"
              "hip: Optional[str] = '6.4.43484-123eb5128'\n");
    CHECK(hsa_of(probe(host)).front().rocm_version.is("6.4"));
  }
  SUBCASE("by the local part of its version") {
    host.file(torch + "/version.py", "__version__ = '2.9.1+rocm7.2.0.lw.git7e1940d4'\nhip = '7.2.26015'\n");
    CHECK(hsa_of(probe(host)).front().rocm_version.is("7.2.0"));
  }
  SUBCASE("by rocm, where it is") {
    host.file(torch + "/version.py", "__version__ = \"2.13.0+rocm10.0\"\nhip = '7.15.26333'\nrocm = '10.0.0'\n");
    CHECK(hsa_of(probe(host)).front().rocm_version.is("10.0.0"));
  }
  SUBCASE("not at all") {
    host.file(torch + "/version.py", "__version__ = '2.9.1+cu130'\nhip: Optional[str] = None\nrocm = 7\nhip = 'x\n");
    CHECK_FALSE(hsa_of(probe(host)).front().rocm_version.known());
  }
  const HsaCopy copy = hsa_of(probe(host)).front();
  CHECK(hsa_of(probe(host)).size() == 1);
  CHECK(copy.path == torch + "/lib/libhsa-runtime64.so");
  CHECK(copy.origin.is(LibraryOrigin::torch_wheel));
}

TEST_CASE("the SDK wheel's runtime takes the version of the tree inside, else of the wheel") {
  MemoryHost host;
  const std::string site = "/conda/lib/python3.11/site-packages";
  host.variables["CONDA_PREFIX"] = "/conda";
  host.file(site + "/_rocm_sdk_core/lib/libhsa-runtime64.so.1", "elf");
  host.folder(site + "/rocm_sdk_core-7.14.0a20260526.dist-info");
  CHECK(hsa_of(probe(host)).front().rocm_version.is("7.14.0"));
  CHECK(hsa_of(probe(host)).front().version_source.is(site + "/rocm_sdk_core-7.14.0a20260526.dist-info"));
  host.file(site + "/_rocm_sdk_core/.info/version", "7.14.0\n");
  CHECK(hsa_of(probe(host)).front().version_source.is(site + "/_rocm_sdk_core/.info/version"));
  CHECK(hsa_of(probe(host)).front().origin.is(LibraryOrigin::rocm_sdk_wheel));
}

TEST_CASE("hard links are one copy, equal inodes of other sizes are not") {
  MemoryHost host;
  const std::string site = "/venv/lib/python3.12/site-packages";
  host.variables["VIRTUAL_ENV"] = "/venv";
  host.file(site + "/_rocm_sdk_core/lib/libhsa-runtime64.so.1", "elf");
  host.file(site + "/_rocm_sdk_devel/lib/libhsa-runtime64.so.1", "elf");
  host.file("/usr/lib64/libhsa-runtime64.so.1", "another");
  for (const char* path : {"/venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/libhsa-runtime64.so.1",
                           "/venv/lib/python3.12/site-packages/_rocm_sdk_devel/lib/libhsa-runtime64.so.1",
                           "/usr/lib64/libhsa-runtime64.so.1"}) {
    host.entries[path].status.inode = 77;
  }
  CHECK(hsa_of(probe(host)).size() == 2);
}

TEST_CASE("a configured tree and a folder that only the loader cache names are told as such") {
  MemoryHost host;
  host.file("/srv/rocm/.info/version", "7.1.1\n").file("/srv/rocm/lib/libhsa-runtime64.so.1", "elf");
  host.file("/usr/local/lib/libhsa-runtime64.so.1", "other");
  host.cache = std::vector<LoaderCacheEntry>{{"libhsa-runtime64.so.1", "/usr/local/lib/libhsa-runtime64.so.1"},
                                             {"libhsa-runtime64.so.1", "/gone/libhsa-runtime64.so.1"},
                                             {"libhsa-runtime64.solid", "/srv/x"}};
  const Rocm rocm = probe(host, PlatformKind::bare_metal, "/srv/rocm");
  REQUIRE(hsa_of(rocm).size() == 2);
  CHECK(hsa_of(rocm)[0].origin.is(LibraryOrigin::configured));
  CHECK(hsa_of(rocm)[0].rocm_version.is("7.1.1"));
  CHECK_FALSE(hsa_of(rocm)[1].origin.known());
  CHECK_FALSE(hsa_of(rocm)[1].rocm_version.known());
}

TEST_CASE("a bridge tells how it can be found and what it exports") {
  ElfHost host;
  add_rocm(host);
  host.file("/opt/rocm-7.2.0/lib/librocdxg.so.1", "elf").link("/opt/rocm-7.2.0/lib/librocdxg.so", "librocdxg.so.1");
  host.elf_files["/opt/rocm-7.2.0/lib/librocdxg.so"].symbols = {{"hsaKmtOpenKFD", true}, {"DxgAbiCheck", false}};
  const auto only = [&] {
    const Rocm rocm = probe(host, PlatformKind::wsl2);
    REQUIRE(rocm.rocdxg.known());
    REQUIRE(rocm.rocdxg->size() == 1);
    return rocm.rocdxg->front();
  };
  CHECK(only().path == "/opt/rocm-7.2.0/lib/librocdxg.so");
  CHECK(only().origin.is(LibraryOrigin::rocm_root));
  CHECK(only().exports_thunk.is(true));
  CHECK(only().exports_abi_check.is(false));
  CHECK(only().in_loader_cache.is(false));
  CHECK(only().in_library_path.is(false));
  host.cache = std::vector<LoaderCacheEntry>{{"librocdxg.so.1", "/opt/rocm/lib/librocdxg.so.1"}};
  host.variables["LD_LIBRARY_PATH"] = "/nowhere:/opt/rocm/lib";
  CHECK(only().in_loader_cache.is(true));
  CHECK(only().in_library_path.is(true));
  host.cache = Error{ENOENT, "/etc/ld.so.cache"};
  CHECK_FALSE(only().in_loader_cache.known());
}

}  // namespace sage
