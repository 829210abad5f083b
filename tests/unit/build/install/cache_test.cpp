#include "doctor/build/install/cache.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "doctor/build/install/digest.hpp"
#include "probes/host/file_calls.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

std::string file_of(const TemporaryFolder& place, std::string_view key) {
  return place.path() + "/cache/" + sha256_hex(key);
}

void set_time(const std::string& path, time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("an object comes back under its key alone") {
  const TemporaryFolder place;
  const ObjectCache cache(place.path() + "/cache");
  CHECK_FALSE(cache.find("key"));
  const std::string object(
      "\x7f"
      "ELF\0\n\xff",
      7);
  CHECK_FALSE(cache.put("key", object));
  CHECK(cache.find("key") == object);
  CHECK_FALSE(cache.find("key "));
  CHECK_FALSE(cache.put("key", ""));
  CHECK(cache.find("key") == "");
}

TEST_CASE("a torn or altered file is a miss and is replaced by the next object") {
  const TemporaryFolder place;
  const ObjectCache cache(place.path() + "/cache");
  REQUIRE_FALSE(cache.put("key", "object"));
  const std::string whole = *file_calls::read_whole(file_of(place, "key"), Links::keep, 1000);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    place.write("cache/" + sha256_hex("key"), whole.substr(0, length));
    CHECK_MESSAGE(!cache.find("key"), length);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    place.write("cache/" + sha256_hex("key"), altered);
    CHECK_MESSAGE(!cache.find("key"), at);
  }
  REQUIRE_FALSE(cache.put("key", "object"));
  CHECK(cache.find("key") == "object");
}

TEST_CASE("what was not used for longest goes when the cache is full") {
  const TemporaryFolder place;
  const ObjectCache cache(place.path() + "/cache", 3 * 165);  // room for three of 100 bytes
  const std::string object(100, 'x');
  for (const char* key : {"a", "b", "c"}) REQUIRE_FALSE(cache.put(key, object));
  set_time(file_of(place, "a"), 100);
  set_time(file_of(place, "b"), 200);
  set_time(file_of(place, "c"), 300);
  CHECK(cache.find("a"));  // used: now newer than b and c
  REQUIRE_FALSE(cache.put("d", object));
  CHECK(cache.find("a"));
  CHECK_FALSE(cache.find("b"));
  CHECK(cache.find("c"));
  CHECK(cache.find("d"));
}

TEST_CASE("an object larger than the cache is not kept and pushes nothing out") {
  const TemporaryFolder place;
  const ObjectCache cache(place.path() + "/cache", 200);
  REQUIRE_FALSE(cache.put("small", "x"));
  REQUIRE_FALSE(cache.put("large", std::string(136, 'x')));
  CHECK_FALSE(cache.find("large"));
  CHECK(cache.find("small"));
}

TEST_CASE("half-written files of a killed process are removed") {
  const TemporaryFolder place;
  const std::string rubbish = place.write("cache/" + sha256_hex("key") + ".new-77", "half");
  const ObjectCache cache(place.path() + "/cache");
  REQUIRE_FALSE(cache.put("other", "object"));
  CHECK_FALSE(fs::exists(rubbish));
}

}  // namespace sage
