#include "probes/base/toml_guard.hpp"

#include <doctest/doctest.h>

#include <string>

namespace sage {

TEST_CASE("letters beyond ASCII are fine in strings and comments") {
  for (const char* text : {
           "",
           "a = \"\xc3\xa4\" # \xc3\xa4\n",
           "'\xc3\xa4' = 1",
           "a = '''\n\xc3\xa4\n'''",
           "a = \"\"\"\xc3\xa4\n\\\"\"\"\"\"\n",
           "a = \"\"\"x\"\"\"\"\" # \xc3\xa4",
           "a = \"\\\"\xc3\xa4\"",
           "a = '\\' # \xc3\xa4",
           "\xef\xbb\xbf"
           "a = 1",
           "a = \"\"\nb = \"\xc3\xa4\"",
       }) {
    CAPTURE(std::string(text));
    CHECK_FALSE(toml_text_problem(text, "f").has_value());
  }
}

TEST_CASE("elsewhere they are named by their line") {
  CHECK(toml_text_problem("a = 1\n\xc3\xa4 = 1\n", "f.toml")->text ==
        "f.toml:2: a character that must stand in quotes");
  for (const char* text : {
           "\xef\xbb\xbe"
           "a",
           "[\x01]",
           "a = \"x\" \xc3\xa4",
           "a = 'x\n\xc3\xa4'",
           "a = '''x''' \xc3\xa4",
           "a = \"\\\\\" \xc3\xa4",
           "\x7f",
       }) {
    CAPTURE(std::string(text));
    CHECK(toml_text_problem(text, "f").has_value());
  }
}

}  // namespace sage
