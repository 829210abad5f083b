#include "doctor/checks/registry.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "doctor/diagnose/rules.hpp"
#include "probes/base/embedded.hpp"

namespace sage {
namespace {

std::string page_of(std::string_view id) {
  for (const EmbeddedFile& page : embedded_finding_pages()) {
    if (page.name == std::string(id) + ".md") return std::string(page.text);
  }
  return {};
}

}  // namespace

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

TEST_CASE("every check and every finding of logs has a page with all its sections, and every page one of them") {
  std::set<std::string> ids;
  for (const Check& check : all_checks()) ids.emplace(check.id);
  for (const LogFinding& finding : embedded_rules_for_logs().findings) ids.insert(finding.id);
  for (const std::string& id : ids) {
    const std::string page = page_of(id);
    CHECK_MESSAGE(page.starts_with("# " + id + "\n"), id);
    for (const char* section : {"\n## What it means\n", "\n## How it is found\n", "\n## Confirm by hand\n",
                                "\n## Remedy\n", "\n## What not to do\n", "\n## Sources\n"}) {
      CHECK_MESSAGE(page.find(section) != std::string::npos, (id + " lacks" + section));
    }
  }
  for (const EmbeddedFile& page : embedded_finding_pages()) {
    const std::string id(page.name.substr(0, page.name.rfind(".md")));
    CHECK_MESSAGE(ids.contains(id), std::string(page.name));
  }
}

}  // namespace sage
