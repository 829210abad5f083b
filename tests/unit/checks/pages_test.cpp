// The pages of docs/findings: every check has one, each is whole, and the index by symptom leads to all of them.

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <re2/re2.h>

#include "doctor/checks/registry.hpp"
#include "doctor/diagnose/rules.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::string_view index_name = "symptoms";

struct Section {
  std::string title;
  std::string text;
};

struct Page {
  std::string id;
  std::string text;
  std::vector<Section> sections;
};

std::vector<Section> sections_of(std::string_view text) {
  std::vector<Section> sections;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("## ")) {
      sections.push_back({std::string(line.substr(3)), ""});
    } else if (!sections.empty()) {
      sections.back().text += std::string(line) + "\n";
    }
  }
  return sections;
}

std::string id_of(const EmbeddedFile& file) {
  return std::string(file.name.substr(0, file.name.rfind(".md")));
}

std::vector<Page> all_pages() {
  std::vector<Page> pages;
  for (const EmbeddedFile& file : embedded_finding_pages()) {
    if (id_of(file) != index_name) pages.push_back({id_of(file), std::string(file.text), sections_of(file.text)});
  }
  return pages;
}

std::string index_text() {
  for (const EmbeddedFile& file : embedded_finding_pages()) {
    if (id_of(file) == index_name) return std::string(file.text);
  }
  return {};
}

std::string section(const Page& page, std::string_view title) {
  const auto found =
      std::find_if(page.sections.begin(), page.sections.end(), [&](const Section& one) { return one.title == title; });
  return found == page.sections.end() ? "" : found->text;
}

/// What a bullet "* **NAME**: ..." says, up to the next bullet of the first level; empty when there is none.
std::string bullet(std::string_view remedy, const std::string& name) {
  const std::string start = "* **" + name + "**:";
  std::string text;
  bool inside = false;
  for (const std::string_view line : split(remedy, '\n')) {
    if (line.starts_with("* ")) inside = line.starts_with(start);
    if (inside) text += std::string(line.starts_with(start) ? line.substr(start.size()) : line);
  }
  return std::string(trim(text));
}

/// The lines between fences, which a reader copies as they stand.
std::string commands_of(std::string_view text) {
  std::string commands;
  bool fenced = false;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).starts_with("```")) {
      fenced = !fenced;
    } else if (fenced) {
      commands += std::string(line) + "\n";
    }
  }
  return commands;
}

struct Link {
  std::string text;
  std::string target;
};

std::vector<Link> links_of(std::string_view text) {
  std::vector<Link> links;
  static const RE2 pattern(R"(\[([^\]\s]+)\]\(([^)]+)\))");
  re2::StringPiece rest(text.data(), text.size());
  Link link;
  while (RE2::FindAndConsume(&rest, pattern, &link.text, &link.target)) links.push_back(link);
  return links;
}

std::set<std::string> page_ids() {
  std::set<std::string> ids;
  for (const Page& page : all_pages()) ids.insert(page.id);
  return ids;
}

/// The rows of the index: "* what is seen:" and the lines below it.
std::vector<std::string> index_rows() {
  std::vector<std::string> rows;
  const std::string text = index_text();  // the lines are views of it
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("* ")) {
      rows.emplace_back(line);
    } else if (line.starts_with("  ") && !rows.empty()) {
      rows.back() += "\n" + std::string(line);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("every check and every finding of logs has a page, and every page is about one of them") {
  std::set<std::string> findings;
  for (const Check& check : all_checks()) findings.emplace(check.id);
  for (const LogFinding& finding : embedded_rules_for_logs().findings) findings.insert(finding.id);
  const std::set<std::string> pages = page_ids();
  for (const std::string& id : findings) CHECK_MESSAGE(pages.contains(id), id);
  for (const std::string& id : pages) CHECK_MESSAGE(findings.contains(id), id);
}

TEST_CASE("a page has its six sections in order, none of them empty") {
  const std::vector<std::string> titles = {"What it means", "How it is found", "Confirm by hand",
                                           "Remedy",        "What not to do",  "Sources"};
  for (const Page& page : all_pages()) {
    CHECK_MESSAGE(page.text.starts_with("# " + page.id + "\n\n## "), page.id);
    std::vector<std::string> found;
    for (const Section& one : page.sections) {
      found.push_back(one.title);
      CHECK_MESSAGE(!trim(one.text).empty(), page.id, ": empty section ", one.title);
    }
    CHECK_MESSAGE(found == titles, page.id);
  }
}

TEST_CASE("a remedy holds everywhere, or tells each platform what to do") {
  for (const Page& page : all_pages()) {
    const std::string remedy = section(page, "Remedy");
    if (!bullet(remedy, "Everywhere").empty()) continue;
    std::vector<std::string> platforms = {"WSL", "Container"};
    if (!contains(page.id, "wsl")) platforms.insert(platforms.begin(), {"Debian, Ubuntu", "Fedora", "Arch"});
    for (const std::string& platform : platforms) {
      CHECK_MESSAGE(!bullet(remedy, platform).empty(), page.id, ": no remedy for ", platform);
    }
  }
}

TEST_CASE("bullets in bold name a platform, so that one can look for it") {
  const std::set<std::string> known = {"Everywhere", "Debian, Ubuntu", "Fedora", "Arch", "WSL", "Container"};
  static const RE2 pattern(R"((?m)^\* \*\*([^*]+)\*\*(:?))");
  for (const Page& page : all_pages()) {
    const std::string remedy = section(page, "Remedy");
    re2::StringPiece rest(remedy);
    std::string name;
    std::string colon;
    while (RE2::FindAndConsume(&rest, pattern, &name, &colon)) {
      CHECK_MESSAGE((known.contains(name) && colon == ":"), page.id, ": ", name);
    }
  }
}

TEST_CASE("commands of pages do no harm") {
  constexpr auto harmful =
      std::to_array<std::string_view>({"chmod 666", "chmod a+rw", "chmod 777", "MODE=\"0666\"",
                                       "CUDA_HOME=", "HSA_OVERRIDE_GFX_VERSION=", "HIP_VISIBLE_DEVICES=0",
                                       "HIP_VISIBLE_DEVICES=1", "ROCR_VISIBLE_DEVICES=0", "ROCR_VISIBLE_DEVICES=1",
                                       "--break-system-packages", "sudo pip", "--privileged", "mknod", "rm -rf"});
  for (const Page& page : all_pages()) {
    const std::string commands = commands_of(page.text);
    for (const std::string_view words : harmful) {
      CHECK_MESSAGE(!contains(commands, words), page.id, ": ", std::string(words));
    }
  }
}

TEST_CASE("pages fit 120 columns and have no fence left open") {
  for (const EmbeddedFile& file : embedded_finding_pages()) {
    std::size_t fences = 0;
    for (const std::string_view line : split(file.text, '\n')) {
      CHECK_MESSAGE(line.size() <= 120, id_of(file), ": ", std::string(line));
      if (trim(line).starts_with("```")) ++fences;
    }
    CHECK_MESSAGE(fences % 2 == 0, id_of(file));
  }
}

TEST_CASE("links between pages lead to the page whose id they show") {
  const std::set<std::string> ids = page_ids();
  for (const EmbeddedFile& file : embedded_finding_pages()) {
    for (const Link& link : links_of(file.text)) {
      if (!link.target.ends_with(".md")) continue;
      CHECK_MESSAGE(link.target == link.text + ".md", id_of(file), ": ", link.text);
      CHECK_MESSAGE((ids.contains(link.text) || link.text == index_name), id_of(file), ": ", link.text);
    }
  }
}

TEST_CASE("each row of the index by symptom names pages, and each page stands in a row") {
  std::set<std::string> named;
  const std::vector<std::string> rows = index_rows();
  REQUIRE(rows.size() > 50);
  for (const std::string& row : rows) {
    const std::vector<Link> links = links_of(row);
    CHECK_MESSAGE(!links.empty(), row);
    std::set<std::string> once;
    for (const Link& link : links) CHECK_MESSAGE(once.insert(link.text).second, row);
    named.insert(once.begin(), once.end());
  }
  for (const std::string& id : page_ids()) CHECK_MESSAGE(named.contains(id), id, " stands in no row of symptoms.md");
}

}  // namespace sage
