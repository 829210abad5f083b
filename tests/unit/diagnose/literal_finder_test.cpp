#include "doctor/diagnose/literal_finder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "probes/base/text.hpp"

namespace sage {
namespace {

std::set<int> found(LiteralFinder& finder, std::string_view text) {
  const std::vector<int>& numbers = finder.find(text);
  const std::set<int> set(numbers.begin(), numbers.end());
  CHECK(set.size() == numbers.size());
  return set;
}

}  // namespace

TEST_CASE("literals: those inside of others, those that overlap, in both cases, each once") {
  LiteralFinder finder({"he", "she", "his", "hers", "/dev/kfd"});
  CHECK(found(finder, "uSHErs") == std::set<int>{0, 1, 3});
  CHECK(found(finder, "his hishe") == std::set<int>{0, 1, 2});
  CHECK(found(finder, "open /DEV/kfd") == std::set<int>{4});
  CHECK(found(finder, "/dev/kf d").empty());
  CHECK(found(finder, "").empty());
}

TEST_CASE("literals: the same twice, or none at all") {
  LiteralFinder twice({"abc", "abc"});
  CHECK(found(twice, "xabcx") == std::set<int>{0, 1});
  LiteralFinder none({});
  CHECK(found(none, "abc").empty());
}

TEST_CASE("literals: wherever one stands in a text") {
  LiteralFinder finder({"needle", "ne"});
  for (std::size_t size = 6; size < 60; ++size) {
    for (std::size_t at = 0; at + 6 <= size; ++at) {
      std::string text(size, 'x');
      text.replace(at, 6, "needle");
      CHECK(found(finder, text) == std::set<int>{0, 1});
      text[at + 5] = 'x';
      CHECK(found(finder, text) == std::set<int>{1});
    }
  }
}

TEST_CASE("literals: as a plain search finds them, in random texts") {
  std::mt19937 random(7);
  const auto word = [&](std::size_t longest) {
    std::string text;
    const std::size_t size = 1 + random() % longest;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + random() % 3);
    return text;
  };
  // Long texts are walked through in several parts at a time.
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::string> literals;
    for (int i = 0; i < 12; ++i) literals.push_back(word(8));
    LiteralFinder finder(literals);
    const std::string text = word(120);
    std::set<int> expected;
    for (std::size_t i = 0; i < literals.size(); ++i) {
      if (contains(text, literals[i])) expected.insert(static_cast<int>(i));
    }
    CHECK(found(finder, text) == expected);
  }
}

}  // namespace sage
