#include "doctor/report/wrap.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("printable: marks that turn the direction of writing are shown as such") {
  CHECK(printable("a\u202eb\u2066c") == "a?b?c");
  CHECK(printable("\u2026\u2070\u202f") == "\u2026\u2070\u202f");
}

TEST_CASE("lines break at blanks and hang below their first word") {
  CHECK(wrapped("one two three", "- ", "  ", 9) == "- one two\n  three\n");
  CHECK(wrapped("", "- ", "  ", 9) == "- \n");
}

TEST_CASE("a word longer than the line is never broken") {
  CHECK(wrapped("see /opt/rocm-7.2.0/lib/libhsa-runtime64.so.1 now", "", "", 20) ==
        "see\n/opt/rocm-7.2.0/lib/libhsa-runtime64.so.1\nnow\n");
}

TEST_CASE("nothing from a file reaches the terminal as a control sequence") {
  CHECK(printable("a\033[31mb\a") == "a?[31mb?");
  CHECK(printable("tab\tline\nend") == "tab line end");
  CHECK(printable("\xc2\x9b" "31m") == "?31m");
  CHECK(printable("\xff\xfe") == "??");
  CHECK(printable("\xc0\xaf") == "??");
  CHECK(printable("\xed\xa0\x80") == "???");
  CHECK(printable("gr\xc3\xb6\xc3\x9f" "e") == "gr\xc3\xb6\xc3\x9f" "e");
}

TEST_CASE("columns count code points") { CHECK(columns("gr\xc3\xb6\xc3\x9f" "e") == 5); }

}  // namespace sage
