#include "doctor/report/page_text.hpp"

#include <string>

#include <doctest/doctest.h>

#include "doctor/report/wrap.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/text.hpp"

namespace sage {

TEST_CASE("paragraphs and list items are broken anew, each with its own lead") {
  CHECK(page_text("# title\n\none two three\nfour\n\n* **Arch**: five six\n  seven eight\n  * nine ten eleven\n", 16) ==
        "# title\n\none two three\nfour\n\n* **Arch**: five\n  six seven\n  eight\n  * nine ten\n    eleven\n");
  CHECK(page_text("1. one two three four\n2. five\n", 12) == "1. one two\n   three\n   four\n2. five\n");
  CHECK(page_text("one\ntwo\n", 80) == "one two\n");
}

TEST_CASE("what is between fences, tables and headings stay as they are") {
  const std::string page =
      "# a heading that is longer than the line\n\n| a table | longer than the line |\n\n* item:\n\n  ```sh\n"
      "  sudo command --with many --options \\\n    --more\n  ```\n";
  CHECK(page_text(page, 20) == page);
}

TEST_CASE("links between pages become the id, others stay") {
  CHECK(page_text("see [driver.firmware](driver.firmware.md), then\n[a guide](https://example.org)\n", 80) ==
        "see driver.firmware, then [a guide](https://example.org)\n");
  CHECK(page_text("`[wsl2]` and `[$NAME]`\n", 80) == "`[wsl2]` and `[$NAME]`\n");
}

TEST_CASE("a page without an end of line, or with an open fence, is printed whole") {
  CHECK(page_text("one", 80) == "one\n");
  CHECK(page_text("```\ncommand", 80) == "```\ncommand\n");
  CHECK(page_text("", 80).empty());
}

TEST_CASE("no page loses a word, and lines fit where words allow it") {
  for (const EmbeddedFile& page : embedded_finding_pages()) {
    const std::string wide = page_text(page.text, 1000);
    const std::string narrow = page_text(page.text, 60);
    CHECK_MESSAGE(words(wide) == words(narrow), std::string(page.name));
    bool fenced = false;
    for (const std::string_view line : split(narrow, '\n')) {
      const bool fence = trim(line).starts_with("```");
      const bool free = fenced || fence || trim(line).starts_with('|') || line.starts_with('#');
      fenced = fence ? !fenced : fenced;
      if (free || columns(line) <= 60) continue;
      // A longer line is one word after its lead, such as an address.
      const std::string_view text = trim(line.starts_with("* ") ? line.substr(2) : line);
      CHECK_MESSAGE(text.find(' ') == std::string_view::npos, std::string(page.name), ": ", std::string(line));
    }
  }
}

}  // namespace sage
