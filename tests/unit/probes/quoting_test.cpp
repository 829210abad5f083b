#include "probes/quoting.hpp"

#include <doctest/doctest.h>

namespace sage {
namespace {

/// The words of a line with '|' between words and ';' between commands.
std::string marked(std::string_view line) {
  std::string text;
  for (const auto& command : shell_commands(line)) {
    if (!text.empty()) text += ';';
    for (const std::string_view word : command)
      text += (text.empty() || text.back() == ';' ? "" : "|") + std::string(word);
  }
  return text;
}

}  // namespace

TEST_CASE("quotes go, and what they protected stays") {
  CHECK(unquote("a'b c'\"d e\"\\ f") == "ab cd e f");
  CHECK(unquote("'it'\\''s'") == "it's");
  CHECK(unquote("\"\\$x \\n \\\"\"") == "$x \\n \"");
  CHECK(unquote("'\\'") == "\\");
  CHECK(unquote("\"open") == "open");
  CHECK(unquote("end\\") == "end\\");
  CHECK(unquote("") == "");
}

TEST_CASE("a line is cut into commands and words outside of quotes and brackets") {
  CHECK(marked("export A=1; export B='x; y' && c d # e; f") == "export|A=1;export|B='x; y';c|d");
  CHECK(marked("A=$(echo \"a b\"; c) B=${D:-x y} `e f` g#h") == "A=$(echo \"a b\"; c)|B=${D:-x y}|`e f`|g#h");
  CHECK(marked("(A=1) a\\ b \"c\\\" d\"") == "A=1;a\\ b|\"c\\\" d\"");
  CHECK(marked("# all comment") == "");
  CHECK(marked("'never closed; x") == "'never closed; x");
  CHECK(marked("$(never (closed; x") == "$(never (closed; x");
  CHECK(marked("end\\") == "end\\");
  CHECK(marked(" ;; | ") == "");
}

}  // namespace sage
