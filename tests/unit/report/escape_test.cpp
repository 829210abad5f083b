#include "doctor/report/escape.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

/// Strings made of what is special in one of the formats, and of bytes that are in none. The same ones in each run.
class Hostile {
 public:
  std::string next() {
    static constexpr std::array<std::string_view, 46> pieces = {"<",
                                                                ">",
                                                                "&",
                                                                "\"",
                                                                "'",
                                                                "`",
                                                                "```",
                                                                "~~~",
                                                                "|",
                                                                "\\",
                                                                "*",
                                                                "_",
                                                                "#",
                                                                "#1",
                                                                "GH-1",
                                                                "@a",
                                                                "[x](y)",
                                                                "](",
                                                                "![",
                                                                "{0}",
                                                                "}",
                                                                "%41",
                                                                "</details>",
                                                                "<script>",
                                                                "<!--",
                                                                "-->",
                                                                "]]>",
                                                                "&lt;",
                                                                "&#60;",
                                                                "\n",
                                                                "\r",
                                                                "\t",
                                                                " ",
                                                                "\033[31m",
                                                                "\x7f",
                                                                "\xff",
                                                                "\xc3",
                                                                "\xe2\x80\xae",
                                                                "\xef\xbf\xbf",
                                                                "\xc3\xa4",
                                                                "\xf0\x9f\x98\x80",
                                                                "1. ",
                                                                "- ",
                                                                "http://e.x/",
                                                                "www.e.x",
                                                                "z"};
    std::string text;
    for (std::size_t left = random_() % 12; left > 0; --left) text += pieces.at(random_() % pieces.size());
    if (random_() % 4 == 0) text.push_back(static_cast<char>(random_() % 256));
    return text;
  }

 private:
  std::mt19937 random_{20261201};
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string back_from_xml(std::string text) {
  for (const auto& [entity, character] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    text = replaced(text, entity, character);
  }
  return text;
}

std::string back_from_uri(std::string_view uri) {
  std::string bytes;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] != '%') {
      bytes += uri[i];
      continue;
    }
    const auto byte = parse_number(uri.substr(i + 1, 2), 16);
    REQUIRE(byte);
    bytes += static_cast<char>(*byte);
    i += 2;
  }
  return bytes;
}

}  // namespace

TEST_CASE("whatever a text holds, as XML it is the printable text again and nothing else") {
  Hostile hostile;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = hostile.next();
    const std::string xml = xml_text(text);
    CHECK(xml.find_first_of("<>\"'\n\r\t\033") == std::string::npos);
    CHECK(back_from_xml(xml) == printable(text));
  }
}

TEST_CASE("whatever bytes a path has, its URI has them, too, and no other characters than a URI may have") {
  Hostile hostile;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = hostile.next();
    const std::string uri = uri_path(text);
    CHECK(uri.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/%") ==
          std::string::npos);
    CHECK(back_from_uri(uri) == text);
  }
  CHECK(uri_path("/a b/\xc3\xa4:%") == "/a%20b/%C3%A4%3A%25");
}

TEST_CASE("whatever a text holds, in a message of SARIF no brace is a placeholder and no bracket a link") {
  Hostile hostile;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = hostile.next();
    const std::string message = sarif_text(text);
    CHECK(message.find("](") == std::string::npos);
    std::string left = replaced(replaced(message, "{{", ""), "}}", "");
    CHECK(left.find_first_of("{}") == std::string::npos);
  }
  CHECK(sarif_text("{0} [a](http://b)") == "{{0}} [a] (http://b)");
}

TEST_CASE("code in Markdown has longer fences than any backticks in it") {
  CHECK(markdown_code("plain") == "`plain`");
  CHECK(markdown_code("a`b``c") == "``` a`b``c ```");
  CHECK(markdown_code("") == "");
  CHECK(markdown_code("\n") == "");
  CHECK(markdown_block("sh", {"echo a", "echo b"}) == "```sh\necho a\necho b\n```\n");
  CHECK(markdown_block("sh", {"````"}) == "`````sh\n````\n`````\n");
  CHECK(markdown_block("sh", {"one\n```\ntwo"}) == "````sh\none ``` two\n````\n");
}

TEST_CASE("text in Markdown stays text and calls nobody") {
  CHECK(markdown_text("plain 1.2, a/b: x86_64 and HSA_ENABLE_DXG") == "plain 1.2, a/b: x86_64 and HSA_ENABLE_DXG");
  CHECK(markdown_text("</details><img src=x>") == "&lt;/details\\>&lt;img src=x\\>");
  CHECK(markdown_text("a|b`c`") == "a&#124;b\\`c\\`");
  CHECK(markdown_text("ask @alice in #12 or GH-3") == "ask @<!-- -->alice in #<!-- -->12 or GH-<!-- -->3");
  CHECK(markdown_text("http://a.b www.a.b") == "http:<!-- -->//a.b www<!-- -->.a.b");
  CHECK(markdown_text(":smile: at 0000:03:00.0, 12:30:00") == ":<!-- -->smile: at 0000:03:00.0, 12:30:00");
  CHECK(markdown_text("# no heading") == "\\# no heading");
  CHECK(markdown_text("- no list") == "\\- no list");
  CHECK(markdown_text("1. no list") == "1\\. no list");
  CHECK(markdown_text("  * _a_ __b__") == "\\* \\_a\\_ \\_\\_b\\_\\_");
  CHECK(markdown_text("[a](b) ![c] $x$ ~~d~~ &amp;") == "\\[a\\](b) !\\[c\\] \\$x\\$ \\~\\~d\\~\\~ &amp;amp;");
  CHECK(markdown_text("two\nlines") == "two lines");
}

TEST_CASE("text that would look like other text is not printed as it is") {
  CHECK(printable("a\xe2\x80\xae"
                  "b\xe2\x81\xa6"
                  "c\xe2\x80\x8f"
                  "d\xd8\x9c"
                  "e\xe2\x80\xa8"
                  "f") == "a?b?c?d?e?f");
  CHECK(printable("\xef\xbf\xbe\xef\xbf\xbf") == "??");
  CHECK(printable("\xe2\x80\xa6\xe2\x82\xac") == "\xe2\x80\xa6\xe2\x82\xac");
}

}  // namespace sage
