#include "probes/host/elf_versions.hpp"

#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>

#include "probes/base/text.hpp"
#include "probes/host/live_host.hpp"

namespace sage {
namespace {

template <class Record>
std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

/// Names are the offsets in words: 1 is "one"; 99 lies outside.
std::optional<std::string> name_at(std::uint64_t offset) {
  if (offset == 99) return std::nullopt;
  return "name" + std::to_string(offset);
}

Elf64_Verneed need(Elf64_Half count, Elf64_Word file, Elf64_Word next) {
  return {VER_NEED_CURRENT, count, file, sizeof(Elf64_Verneed), next};
}

Elf64_Vernaux wanted(Elf64_Word name, Elf64_Word next) {
  return {0, 0, 2, name, next};
}

std::string two_libraries() {
  return bytes_of(need(2, 7, sizeof(Elf64_Verneed) + 2 * sizeof(Elf64_Vernaux))) +
         bytes_of(wanted(2, sizeof(Elf64_Vernaux))) + bytes_of(wanted(1, 0)) + bytes_of(need(1, 5, 0)) +
         bytes_of(wanted(3, 0));
}

std::string two_definitions() {
  const Elf64_Verdef base = {
      VER_DEF_CURRENT, VER_FLG_BASE, 1, 1, 0, sizeof(Elf64_Verdef), sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux)};
  const Elf64_Verdef own = {VER_DEF_CURRENT, 0, 2, 2, 0, sizeof(Elf64_Verdef), 0};
  return bytes_of(base) + bytes_of(Elf64_Verdaux{9, 0}) + bytes_of(own) + bytes_of(Elf64_Verdaux{4, 8}) +
         bytes_of(Elf64_Verdaux{3, 0});
}

}  // namespace

TEST_CASE("version needs are sorted by library, their versions stay in order") {
  const auto needs = parse_version_needs(two_libraries(), 2, name_at);
  REQUIRE_MESSAGE(needs.ok(), needs.error().text);
  CHECK(*needs == std::vector<ElfVersionNeed>{{"name5", {"name3"}}, {"name7", {"name2", "name1"}}});
}

TEST_CASE("version definitions leave out the file's own name and the versions that they include") {
  const auto names = parse_version_definitions(two_definitions(), 2, name_at);
  REQUIRE_MESSAGE(names.ok(), names.error().text);
  CHECK(*names == std::vector<std::string>{"name4"});
}

TEST_CASE("version records cut off anywhere are an error") {
  for (std::size_t size = 0; size < two_libraries().size(); ++size) {
    CHECK_FALSE(parse_version_needs(std::string_view(two_libraries()).substr(0, size), 2, name_at).ok());
  }
  const std::size_t parents = sizeof(Elf64_Verdaux);  // not looked at
  for (std::size_t size = 0; size + parents < two_definitions().size(); ++size) {
    CHECK_FALSE(parse_version_definitions(std::string_view(two_definitions()).substr(0, size), 2, name_at).ok());
  }
}

TEST_CASE("a version without a name, of another format, or far away is an error") {
  CHECK_FALSE(parse_version_needs(bytes_of(need(0, 99, 0)), 1, name_at).ok());
  CHECK_FALSE(parse_version_needs(bytes_of(need(1, 1, 0)) + bytes_of(wanted(99, 0)), 1, name_at).ok());
  Elf64_Verneed other = need(0, 1, 0);
  other.vn_version = 2;
  CHECK_FALSE(parse_version_needs(bytes_of(other), 1, name_at).ok());
  CHECK_FALSE(parse_version_needs(bytes_of(need(0, 1, 0xfffffff0)), 2, name_at).ok());
}

TEST_CASE("records that run into each other end at a limit, whatever count they announce") {
  // Each record's next one begins one byte later: as many records as bytes.
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += std::string("\1\0\0\0", 4);
  CHECK_FALSE(parse_version_needs(bytes, UINT64_MAX, name_at).ok());
  std::string needs;
  for (int i = 0; i < 10'000; ++i) needs += bytes_of(need(0, 1, sizeof(Elf64_Verneed)));
  const auto many = parse_version_needs(needs, UINT64_MAX, name_at);
  REQUIRE_FALSE(many.ok());
  CHECK(contains(many.error().text, "more than 4,096"));
}

TEST_CASE("every changed byte of version records is survived") {
  for (std::size_t i = 0; i < two_libraries().size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bytes = two_libraries();
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      const auto needs = parse_version_needs(bytes, UINT64_MAX, name_at);
      if (!needs.ok()) CHECK_FALSE(needs.error().text.empty());
    }
  }
}

TEST_CASE("this test's own needs name versions of the C library") {
  ElfQuery query;
  query.versions = true;
  const auto facts = make_live_host()->elf("/proc/self/exe", query);
  REQUIRE(facts.ok());
  const auto& needs = facts->version_needs;
  const auto libc =
      std::find_if(needs.begin(), needs.end(), [](const ElfVersionNeed& one) { return one.library == "libc.so.6"; });
  REQUIRE(libc != needs.end());
  CHECK(libc->versions.front().starts_with("GLIBC_"));
  CHECK(make_live_host()->elf("/proc/self/exe", {})->version_needs.empty());
}

}  // namespace sage
