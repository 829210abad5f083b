#include "probes/base/text.hpp"

#include <doctest/doctest.h>

#include "probes/base/version.hpp"

namespace sage {

TEST_CASE("lines, words and parts keep what stands between their separators") {
  CHECK(lines("a\r\nb\n\nc") == std::vector<std::string_view>{"a", "b", "", "c"});
  CHECK(lines("a\n") == std::vector<std::string_view>{"a"});
  CHECK(lines("").empty());
  CHECK(split("a::b", ':') == std::vector<std::string_view>{"a", "", "b"});
  CHECK(split("", ':') == std::vector<std::string_view>{""});
  CHECK(words("  simd_count\t128 ") == std::vector<std::string_view>{"simd_count", "128"});
  CHECK(trim(" \t\n") == "");
}

TEST_CASE("a number is the whole text or nothing") {
  CHECK(parse_number("18446744073709551615") == 18446744073709551615u);
  CHECK_FALSE(parse_number("18446744073709551616"));
  CHECK_FALSE(parse_number("12 "));
  CHECK_FALSE(parse_number("-1"));
  CHECK_FALSE(parse_number(""));
  CHECK(parse_number("0x7550", 16) == 0x7550u);
  CHECK_FALSE(parse_number("0x", 16));
}

TEST_CASE("versions compare by number") {
  CHECK(version_below("7.14", "10.1"));
  CHECK_FALSE(version_below("10.1", "7.14"));
  CHECK_FALSE(version_below("7.1", "7.1.0"));
  CHECK(version_below("6.8.0-51-generic", "6.11"));
  CHECK_FALSE(version_below("none", "6.11"));
  CHECK_FALSE(parse_version("4294967296.1"));
  CHECK_FALSE(parse_version(""));
}

TEST_CASE("sizes and hex read as people write them") {
  CHECK(human_bytes(17163091968) == "16.0 GiB");
  CHECK(human_bytes(512) == "512 B");
  CHECK(hex(0x1002, 4) == "1002");
  CHECK(hex(0xc, 2) == "0c");
}

}  // namespace sage
