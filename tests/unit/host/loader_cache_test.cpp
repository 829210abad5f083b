#include "probes/host/loader_cache.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "probes/host/live_host.hpp"

namespace sage {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t own = 0x0a03;
constexpr std::uint32_t foreign = 0x0303;
#else
constexpr std::uint32_t own = 0x0303;
constexpr std::uint32_t foreign = 0x0803;  // x32
#endif

struct Library {
  std::uint32_t flags;
  std::string soname;
  std::string path;
};

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The bytes that ldconfig would write.
std::string cache_of(const std::vector<Library>& libraries) {
  std::string strings;
  std::string entries;
  const std::size_t strings_start = 48 + 24 * libraries.size();
  for (const Library& library : libraries) {
    append(entries, library.flags);
    append(entries, static_cast<std::uint32_t>(strings_start + strings.size()));
    strings += library.soname + '\0';
    append(entries, static_cast<std::uint32_t>(strings_start + strings.size()));
    strings += library.path + '\0';
    append(entries, std::uint32_t{0});
    append(entries, std::uint64_t{0});
  }
  std::string bytes = "glibc-ld.so.cache1.1";
  append(bytes, static_cast<std::uint32_t>(libraries.size()));
  append(bytes, static_cast<std::uint32_t>(strings.size()));
  append(bytes, std::uint32_t{2});
  bytes.append(16, '\0');
  return bytes + entries + strings;
}

std::string behind_old_format(const std::string& cache, std::uint32_t old_count) {
  std::string bytes = "ld.so-1.7.0";
  bytes += '\0';
  append(bytes, old_count);
  bytes.append(std::size_t{old_count} * 12, 'o');
  while (bytes.size() % 8 != 0) bytes += '\0';
  return bytes + cache;
}

const std::vector<Library> two = {{own, "liba.so.1", "/lib/liba.so.1"}, {own, "libb.so", "/opt/rocm/lib/libb.so"}};

std::string summary(const Result<std::vector<LoaderCacheEntry>>& entries) {
  if (!entries.ok()) return "error";
  std::string text;
  for (const LoaderCacheEntry& entry : *entries) text += entry.soname + "=" + entry.path + " ";
  return text;
}

constexpr const char* both = "liba.so.1=/lib/liba.so.1 libb.so=/opt/rocm/lib/libb.so ";

}  // namespace

TEST_CASE("the loader's cache is read in its order") {
  CHECK(summary(parse_loader_cache(cache_of(two))) == both);
  CHECK(summary(parse_loader_cache(cache_of({}))).empty());
}

TEST_CASE("the cache is found behind the older format too") {
  CHECK(summary(parse_loader_cache(behind_old_format(cache_of(two), 0))) == both);
  CHECK(summary(parse_loader_cache(behind_old_format(cache_of(two), 3))) == both);
  CHECK(summary(parse_loader_cache(behind_old_format("", 3))) == "error");
}

TEST_CASE("libraries of other architectures are left out") {
  CHECK(summary(parse_loader_cache(cache_of({{foreign, "liba.so.1", "/libx32/liba.so.1"}, two[1]}))) ==
        "libb.so=/opt/rocm/lib/libb.so ");
}

TEST_CASE("a foreign or damaged cache is an error that says how to mend it") {
  for (const std::string& bytes :
       {std::string(), std::string("glibc-ld.so.cache1.1"), std::string("ld.so-1.7.0"),
        std::string("glibc-ld.so.cache2.0") + std::string(100, '\0'), std::string(4096, '\xff')}) {
    const auto entries = parse_loader_cache(bytes);
    REQUIRE_FALSE(entries.ok());
    CHECK(entries.error().text.find("/etc/ld.so.cache: ") == 0);
    CHECK(entries.error().text.find("sudo ldconfig") != std::string::npos);
  }
  std::string big_endian = cache_of(two);
  big_endian[28] = 3;
  CHECK(summary(parse_loader_cache(big_endian)) == "error");
}

TEST_CASE("a cache cut off anywhere gives an error or nothing wrong") {
  const std::string bytes = behind_old_format(cache_of(two), 3);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(summary(parse_loader_cache(std::string_view(bytes).substr(0, size))) == "error");
  }
}

TEST_CASE("every changed byte of a cache is survived") {
  const std::string good = behind_old_format(cache_of(two), 1);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      const auto entries = parse_loader_cache(bytes);
      CHECK((!entries.ok() || entries->size() <= 2));
    }
  }
}

TEST_CASE("entries that share one long text do not unfold without limit") {
  std::vector<Library> many(20'000, {own, "a", "b"});
  std::string bytes = cache_of(many);
  const auto long_text = static_cast<std::uint32_t>(bytes.size());
  bytes += std::string(4000, 'x') + '\0';
  for (std::size_t i = 0; i < many.size(); ++i) std::memcpy(bytes.data() + 48 + i * 24 + 8, &long_text, 4);
  CHECK(summary(parse_loader_cache(bytes)) == "error");
  bytes += std::string(5000, 'y');
  const auto endless = static_cast<std::uint32_t>(bytes.size() - 5000);
  std::memcpy(bytes.data() + 48 + 8, &endless, 4);
  CHECK(summary(parse_loader_cache(bytes)) == "error");
}

TEST_CASE("this machine's cache names files that exist") {
  const auto host = make_live_host();
  const auto entries = host->loader_cache();
  if (!entries.ok()) {
    CHECK(entries.error().number == ENOENT);  // musl, or a container without ldconfig
    return;
  }
  CHECK(entries->size() > 10);
  CHECK(std::any_of(entries->begin(), entries->end(), [](const auto& e) { return e.soname == "libc.so.6"; }));
  CHECK(host->status(entries->front().path).ok());
}

}  // namespace sage
