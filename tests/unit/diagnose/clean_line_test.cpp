#include "doctor/diagnose/clean_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sage {
namespace {

using Parts = std::vector<std::string>;

Parts parts(std::string_view line) {
  LineCleaner cleaner;
  const auto found = cleaner.parts(line);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("clean lines: plain ones stay as they are, a Windows line end goes") {
  CHECK(parts("\tsome plain text ~") == Parts{"\tsome plain text ~"});
  CHECK(parts("text\r") == Parts{"text"});
  CHECK(parts("").empty());
  CHECK(parts("\r").empty());
}

TEST_CASE("clean lines: escape sequences go, the words stay whole") {
  CHECK(parts("\033[1;31merr\033[0mor: \033[Kx") == Parts{"error: x"});
  CHECK(parts("\033]8;;http://x/\033\\link\033]8;;\033\\ \033]0;title\atext") == Parts{"link text"});
  CHECK(parts("\033(Bplain\033=") == Parts{"plain"});
  CHECK(parts("\033Psixel\033\\text") == Parts{"text"});
}

TEST_CASE("clean lines: sequences that are broken off take nothing with them") {
  CHECK(parts("text\033") == Parts{"text"});
  CHECK(parts("text\033[3") == Parts{"text"});
  CHECK(parts("\033]0;never ended, error: x") == Parts{"0;never ended, error: x"});
  CHECK(parts("\033[31\001mtext") == Parts{"mtext"});
}

TEST_CASE("clean lines: what nothing ends is looked through once, however often it begins") {
  std::string many;
  for (int i = 0; i < 500'000; ++i) many += "\033]";  // each on its own would be looked through to the end: hours
  CHECK(parts(many + "x") == Parts{"x"});
  CHECK(parts("\033]one\a\033]two \033Pthree") == Parts{"two three"});
}

TEST_CASE("clean lines: each state of a progress bar is a line") {
  CHECK(parts("10%|#   |\r20%|##  |\r\r30%|### |") == Parts{"10%|#   |", "20%|##  |", "30%|### |"});
  CHECK(parts("\r\033[2Kone\rtwo\r") == Parts{"one", "two"});
}

TEST_CASE("clean lines: control characters go, backspaces are carried out") {
  CHECK(parts(std::string_view("e\0r\0r\0o\0r\0", 10)) == Parts{"error"});
  CHECK(parts("a\bab\b\b\bc") == Parts{"c"});
  CHECK(parts("x\r\by") == Parts{"x", "y"});
  CHECK(parts("a\007\177b") == Parts{"ab"});
}

TEST_CASE("clean lines: typographic quotes are plain ones, invisible characters go") {
  CHECK(parts("\u2018foo\u2019 \u201cbar\u201d\u00a0\ufeff\u200bx") == Parts{"'foo' \"bar\" x"});
  CHECK(parts("gr\u00f6\u00dfe \u4f60") == Parts{"gr\u00f6\u00dfe \u4f60"});
  CHECK(parts("bad \xff\xfe\xc2 bytes") == Parts{"bad \xff\xfe\xc2 bytes"});
}

}  // namespace sage
