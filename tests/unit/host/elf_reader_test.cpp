#include "probes/host/elf_reader.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "probes/host/descriptor.hpp"
#include "probes/host/live_host.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

const std::string shims = SAGE_TEST_SHIMS;
const std::string with_runpath = shims + "/elf/libsmall_runpath.so.7";
const std::string with_rpath = shims + "/elf/libsmall_rpath.so";

const ElfQuery everything = {{"sage_test_defines_this", "sage_test_needs_this", "sage_test", "sage_test_weak"},
                             {"librocdxg.so", "D3DKMT"}};

std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// read_elf() of a file in memory with these bytes.
Result<ElfFacts> read_bytes(const std::string& bytes, const ElfQuery& query = everything) {
  const Descriptor file(memfd_create("elf", MFD_CLOEXEC));
  REQUIRE(write(file.number(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return read_elf(file.number(), query);
}

}  // namespace

TEST_CASE("a library tells its names, paths, build id, symbols and strings") {
  const auto facts = make_live_host()->elf(with_runpath, everything);
  REQUIRE(facts.ok());
  CHECK(facts->bits == 64);
  CHECK(facts->soname == "libsmall_runpath.so.7");
  CHECK(facts->needed == std::vector<std::string>{"libdrm.so.2"});
  CHECK(facts->rpath.empty());
  CHECK(facts->runpath == std::vector<std::string>{"$ORIGIN/../lib", "/opt/rocm/lib"});
  CHECK(facts->build_id == "00112233deadbeef");
  CHECK(facts->symbols == std::map<std::string, bool>{{"sage_test_defines_this", true},
                                                      {"sage_test_needs_this", false},
                                                      {"sage_test", false},
                                                      {"sage_test_weak", true}});
  CHECK(facts->strings == std::map<std::string, bool>{{"librocdxg.so", true}, {"D3DKMT", false}});
#if defined(__x86_64__)
  CHECK(facts->machine == "x86_64");
#endif
}

TEST_CASE("rpath and runpath are kept apart and an absent build id is empty") {
  const auto facts = make_live_host()->elf(with_rpath, {});
  REQUIRE(facts.ok());
  CHECK(facts->rpath == std::vector<std::string>{"/old/place"});
  CHECK(facts->runpath.empty());
  CHECK(facts->build_id.empty());
  CHECK(facts->symbols.empty());
  CHECK(facts->strings.empty());
}

TEST_CASE("what is no ELF file says so") {
  const TemporaryFolder folder;
  const auto host = make_live_host();
  const std::string text = folder.write("liba.so", "INPUT(libb.so)");
  CHECK(host->elf(text, {}).error() == Error{ENOEXEC, text + ": not an ELF file"});
  CHECK(host->elf(folder.write("empty", ""), {}).error().number == ENOEXEC);
  CHECK(host->elf(folder.path("none"), {}).error().number == ENOENT);
  CHECK(host->elf(folder.path(), {}).error().number == EISDIR);
}

TEST_CASE("a library cut off anywhere is an error") {
  const std::string bytes = contents(with_runpath);
  REQUIRE(bytes.size() > 4096);
  CHECK(read_bytes(bytes).ok());
  for (std::size_t size = 0; size < bytes.size(); size += 16) {
    CHECK_FALSE(read_bytes(bytes.substr(0, size)).ok());
  }
}

TEST_CASE("every changed byte of a library's headers and tables is survived") {
  const std::string good = contents(with_runpath);
  // Where something other than padding stands; elsewhere a change has nothing to break.
  for (std::size_t i = 0; i < good.size(); ++i) {
    const bool padding = i > 64 && good[i] == 0 && good[i - 1] == 0;
    if (padding) continue;
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      const auto facts = read_bytes(bytes);
      if (!facts.ok()) CHECK_FALSE(facts.error().text.empty());
    }
  }
}

TEST_CASE("headers that promise more than a file can hold are refused before memory is asked for") {
  std::string bytes = contents(with_runpath);
  bytes[60] = 0;  // e_shnum 0: "the number stands in section 0"
  bytes[61] = 0;
  CHECK_FALSE(read_bytes(bytes).ok());
  bytes = contents(with_runpath);
  bytes[40] = '\xff';  // e_shoff
  bytes[46] = '\x7f';
  CHECK_FALSE(read_bytes(bytes).ok());
}

TEST_CASE("a file of a tebibyte is not read through") {
  const TemporaryFolder folder;
  const std::string path = folder.write("huge.so", contents(with_runpath));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  const auto facts = make_live_host()->elf(path, everything);
  REQUIRE(facts.ok());
  CHECK(facts->soname == "libsmall_runpath.so.7");
}

TEST_CASE("this machine's C library and this test itself are read") {
  const auto host = make_live_host();
  const auto self = host->elf("/proc/self/exe", {});
  REQUIRE(self.ok());
  CHECK(self->soname.empty());
  CHECK_FALSE(self->needed.empty());
}

}  // namespace sage
