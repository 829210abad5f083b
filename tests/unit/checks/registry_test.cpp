#include "doctor/checks/registry.hpp"

#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("ids are unique slugs of their topic, and titles say something") {
  std::set<std::string_view> ids;
  const std::regex slug("[a-z]+\\.[a-z0-9]+(-[a-z0-9]+)*");
  for (const Check& check : all_checks()) {
    const std::string id(check.id);
    CHECK_MESSAGE(ids.insert(check.id).second, id);
    CHECK_MESSAGE(std::regex_match(id, slug), id);
    CHECK_MESSAGE(check.title.size() > 4, id);
    CHECK_MESSAGE((check.run != nullptr), id);
  }
}

TEST_CASE("prerequisites exist and stand before what needs them: there is no cycle") {
  std::set<std::string_view> seen;
  for (const Check& check : all_checks()) {
    for (const std::string_view id : check.depends) {
      CHECK_MESSAGE(seen.contains(id), (std::string(check.id) + " needs " + std::string(id)));
    }
    seen.insert(check.id);
  }
}

}  // namespace sage
