#include "probes/host/process_identity.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>

namespace sage {
namespace {

constexpr const char* passwd =
    "root:x:0:0:root:/root:/bin/bash\n"
    "# comment\n"
    "short:x:1000\n"
    ":x:1000:1000::/nameless:/bin/sh\n"
    "ada:x:1000:1000:Ada,,,:/home/ada:/bin/zsh\n"
    "second:x:1000:1000::/home/second:/bin/sh\n"
    "big:x:4294968296:1::/big:/bin/sh\n"
    "+@nis:x:::::\n";

}  // namespace

TEST_CASE("a user is found by number in the first whole line that has it") {
  CHECK(find_user(passwd, 1000)->name == "ada");
  CHECK(find_user(passwd, 1000)->home == "/home/ada");
  CHECK(find_user(passwd, 0)->name == "root");
  CHECK_FALSE(find_user(passwd, 1));
  CHECK_FALSE(find_user("", 0));
}

TEST_CASE("a user that the user database does not know goes by USER, else by number") {
  const char* const before = std::getenv("USER");
  const std::string kept = before == nullptr ? "" : before;
  setenv("USER", "ldap-user", 1);
  CHECK(identify_process("").user == "ldap-user");
  unsetenv("USER");
  CHECK(identify_process("").user == std::to_string(getuid()));
  if (before != nullptr) setenv("USER", kept.c_str(), 1);
  const std::string line = "me:x:" + std::to_string(getuid()) + ":0::/here:/bin/sh\n";
  CHECK(identify_process(line).user == "me");
}

TEST_CASE("the running C library has a name") {
  const auto libc = running_libc();
  REQUIRE(libc.ok());
  CHECK((libc->name == "glibc" || libc->name == "musl"));
  if (libc->name == "glibc") CHECK(libc->version.starts_with("2."));
}

}  // namespace sage
