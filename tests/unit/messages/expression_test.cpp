#include "doctor/messages/expression.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("templates: names become words; what has none, or an empty one, becomes a question mark") {
  CHECK(filled("{a} and {b}, {c}.", {{"a", "one"}, {"b", ""}}) == "one and ?, ?.");
  CHECK(filled("no name", {}) == "no name");
  CHECK(filled("open {brace", {{"brace", "x"}}) == "open {brace");
  CHECK(filled("{a}{a}", {{"a", "{b}"}, {"b", "x"}}) == "{b}{b}");
  CHECK(names_in("{a} and {b}{c} {d") == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("expressions: the place of a match and its named groups") {
  const RE2 expression("lib(?P<name>[a-z]+)\\.so(\\.(?P<version>[0-9]+))?", message_options());
  const auto found = find_message(expression, "no libx.so here");
  REQUIRE(found);
  CHECK(found->at == 3);
  CHECK(found->size == 7);
  CHECK(found->words == Words{{"name", "x"}});
  CHECK(find_message(expression, "libx.so.6")->words.at("version") == "6");
  CHECK_FALSE(find_message(expression, "lib.so"));
  CHECK_FALSE(found_in(expression, ""));
}

TEST_CASE("expressions: a byte that is no UTF-8 hides nothing behind it, and words are safe to print") {
  const RE2 expression("open (?P<path>.+): denied", message_options());
  const auto found = find_message(expression, "\xff open /a\xff\x1b[1m/gr\u00f6\u00dfe: denied");
  REQUIRE(found);
  CHECK(found->words.at("path") == "/a??[1m/gr\u00f6\u00dfe");
}

TEST_CASE("shortened texts: whole characters, and the part that counts") {
  CHECK(shortened("  abc ", 10) == "abc");
  CHECK(shortened("abcdef", 3) == "abc...");
  CHECK(shortened("ab\u00e4d", 3) == "ab...");
  CHECK(shortened(std::string("a\0b", 3), 10) == "a?b");
  const std::string text = std::string(500, 'a') + "\u00e4 here " + std::string(500, 'b');
  const std::string around = shortened_around(text, 503, 100);
  CHECK(around.find(" here ") != std::string::npos);
  CHECK(around.starts_with("...aaa"));
  CHECK(around.ends_with("bbb..."));
  CHECK(around.find('?') == std::string::npos);
  CHECK(shortened_around(text, 5, 100) == shortened(text, 100));
  CHECK(shortened_around("short", 4, 100) == "short");
}

}  // namespace sage
