#include "probes/loader/loader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "probes/loader/load_story.hpp"
#include "tests/support/memory_host.hpp"

// The rules themselves are compared with glibc in tests/cli/loader_test.py; here is what a real machine can't show at
// will: other processors and C libraries, broken chains, limits.

namespace sage {
namespace {

void library(MemoryHost& host, const std::string& path, ElfFacts elf = {}) {
  elf.machine = "x86_64";
  host.file(path, path);  // the length tells files apart that have no inode
  host.elf_files[path] = std::move(elf);
}

ElfFacts needing(std::vector<std::string> names) {
  ElfFacts elf;
  elf.needed = std::move(names);
  return elf;
}

/// Where a plain program that needs libx.so.1 gets it.
std::string found(const MemoryHost& host) {
  LoaderFiles files(host);
  Loader loader(files);
  loader.start_plain({"libx.so.1"});
  const LoaderRequest& request = loader.objects().front().requests.front();
  return request.object ? loader.objects()[*request.object].path : "";
}

const std::string v3_flags =
    "flags\t\t: cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave\n";

}  // namespace

TEST_CASE("subfolders for the processor follow its flags") {
  MemoryHost host;
  host.variables["LD_LIBRARY_PATH"] = "/l";
  for (const char* level : {"/l/glibc-hwcaps/x86-64-v2", "/l/glibc-hwcaps/x86-64-v3", "/l/glibc-hwcaps/x86-64-v4", "/l"}) {
    library(host, level + std::string("/libx.so.1"));
  }
  CHECK(found(host) == "/l/libx.so.1");
  host.file("/proc/cpuinfo", v3_flags);
  CHECK(found(host) == "/l/glibc-hwcaps/x86-64-v3/libx.so.1");
}

TEST_CASE("the cache's entry for a better processor is passed over by a lesser one") {
  MemoryHost host;
  const std::string v4 = "/usr/lib/glibc-hwcaps/x86-64-v4/libx.so.1";
  const std::string v2 = "/usr/lib/glibc-hwcaps/x86-64-v2/libx.so.1";
  const std::string v3 = "/usr/lib/glibc-hwcaps/x86-64-v3/libx.so.1";
  for (const std::string& path : {v4, v2, v3, std::string("/usr/lib/libx.so.1")}) library(host, path);
  host.cache = std::vector<LoaderCacheEntry>{
      {"libx.so.1", v4}, {"libx.so.1", v2}, {"libx.so.1", v3}, {"libx.so.1", "/usr/lib/libx.so.1"}};
  CHECK(found(host) == "/usr/lib/libx.so.1");
  host.file("/proc/cpuinfo", v3_flags);
  CHECK(found(host) == v3);
}

TEST_CASE("legacy subfolders ended with glibc 2.37") {
  MemoryHost host;
  host.variables["LD_LIBRARY_PATH"] = "/l";
  library(host, "/l/tls/libx.so.1");
  library(host, "/l/haswell/libx.so.1");
  library(host, "/l/libx.so.1");
  CHECK(found(host) == "/l/tls/libx.so.1");
  host.libc_info = LibcInfo{"glibc", "2.37"};
  CHECK(found(host) == "/l/libx.so.1");
}

TEST_CASE("Intel's processors have a platform of their own") {
  MemoryHost host;
  host.variables["LD_LIBRARY_PATH"] = "/l";
  library(host, "/l/haswell/libx.so.1");
  library(host, "/l/libx.so.1");
  host.file("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n" + v3_flags);
  CHECK(found(host) == "/l/libx.so.1");
  host.file("/proc/cpuinfo", "vendor_id\t: GenuineIntel\n" + v3_flags);
  CHECK(found(host) == "/l/haswell/libx.so.1");
}

TEST_CASE("distributions without folders for each machine have lib64") {
  MemoryHost host;
  library(host, "/usr/lib64/libx.so.1");
  CHECK(found(host) == "/usr/lib64/libx.so.1");
  host.folder("/lib/x86_64-linux-gnu");
  CHECK(found(host).empty());
}

TEST_CASE("libraries that need each other in a circle are loaded once") {
  MemoryHost host;
  host.variables["LD_LIBRARY_PATH"] = "/l";
  library(host, "/l/libx.so.1", needing({"liby.so"}));
  library(host, "/l/liby.so", needing({"libx.so.1", "liby.so"}));
  LoaderFiles files(host);
  const LoadStory story = tell_loads(files, "", {{"/l/libx.so.1"}});
  CHECK_FALSE(story.stages.back().failed);
  CHECK(story.process.size() == 3);
}

TEST_CASE("a chain without end is cut off") {
  class Endless : public MemoryHost {
   public:
    Result<FileStatus> status(const std::string& path, Links links) const override {
      if (!path.starts_with("/l/")) return MemoryHost::status(path, links);
      FileStatus status;
      status.size = path.size();
      return status;
    }
    Result<std::string> canonical(const std::string& path) const override { return path; }
    Result<ElfFacts> elf(const std::string& path, const ElfQuery&) const override {
      ElfFacts elf;
      elf.machine = "x86_64";
      elf.needed = {path + "x"};
      if (path.size() > 3000) elf.needed = {"/l/" + std::to_string(path.size())};
      return elf;
    }
  };
  Endless host;
  LoaderFiles files(host);
  Loader loader(files);
  loader.start_plain({"/l/a"});
  CHECK(loader.cut_off());
  CHECK(loader.objects().size() == 2000);
}

TEST_CASE("a load that fails leaves the process as it was") {
  MemoryHost host;
  library(host, "/e/ext.so", needing({"libamdhip64.so.6"}));
  LoaderFiles files(host);
  const LoadStory story = tell_loads(files, "", {OpenCall{"/e/ext.so"}, OpenCall{"/e/ext.so"}});
  CHECK(story.process.size() == 1);
  REQUIRE(story.stages.size() == 3);
  CHECK(story.stages[1].missing == std::vector<std::string>{"libamdhip64.so.6"});
  CHECK(story.stages[2].failed);
}

TEST_CASE("a filesystem that does not answer is told") {
  MemoryHost host;
  host.variables["LD_LIBRARY_PATH"] = "/nfs";
  host.failing("/nfs", ETIMEDOUT);
  LoaderFiles files(host);
  Loader loader(files);
  loader.start_plain({"libx.so.1"});
  REQUIRE(files.trouble());
  CHECK(files.trouble()->number == ETIMEDOUT);
}

TEST_CASE("runtime libraries are known by their names") {
  CHECK(runtime_library_of("libamdhip64.so.7.2.70200") == RuntimeLibrary::amdhip64);
  CHECK(runtime_library_of("libhsa-runtime64.so") == RuntimeLibrary::hsa_runtime64);
  CHECK_FALSE(runtime_library_of("libhiprtc-builtins.so.7"));
  CHECK_FALSE(runtime_library_of("libamdhip64.sobriety"));
}

}  // namespace sage
