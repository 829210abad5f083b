#include "tests/support/expected.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace sage {
namespace {

Result<ExpectedFinding> read_finding(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Error{0, "expected [[finding]]"};
  ExpectedFinding finding;
  bool has_status = false;
  for (const auto& [key, value] : *table) {
    const auto text = value.value<std::string>();
    if (!value.is_string()) return Error{0, std::string(key.str()) + ": expected a string"};
    if (key.str() == "id") {
      finding.id = *text;
    } else if (key.str() == "subject") {
      finding.subject = *text;
    } else if (key.str() == "status") {
      const auto status = enum_from_name<Status>(*text);
      if (!status) return Error{0, "unknown status '" + *text + "'"};
      finding.status = *status;
      has_status = true;
    } else {
      return Error{0, "unknown key '" + std::string(key.str()) + "'"};
    }
  }
  if (finding.id.empty() || !has_status) return Error{0, "a finding needs 'id' and 'status'"};
  return finding;
}

std::string words_for(const std::string& id, const std::string& subject, Status status) {
  return std::string(enum_name(status)) + " " + id + (subject.empty() ? "" : " (" + subject + ")");
}

bool must_be_listed(Status status) {
  return status == Status::fail || status == Status::warn || status == Status::error;
}

}  // namespace

Result<Expected> read_expected(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return Error{0, file.string() + ": can't be read"};
  const toml::parse_result parsed = toml::parse(text.str(), file.string());
  if (!parsed) return Error{0, file.string() + ": " + std::string(parsed.error().description())};

  Expected expected;
  for (const auto& [key, node] : parsed.table()) {
    if (key.str() == "deep" && node.is_boolean()) {
      expected.deep = *node.value<bool>();
    } else if (key.str() == "finding" && node.is_array()) {
      for (const toml::node& item : *node.as_array()) {
        Result<ExpectedFinding> finding = read_finding(item);
        if (!finding) return Error{0, file.string() + ": " + finding.error().text};
        expected.findings.push_back(*finding);
      }
    } else {
      return Error{0, file.string() + ": unknown key or wrong type: '" + std::string(key.str()) + "'"};
    }
  }
  return expected;
}

std::vector<std::string> differences(const Expected& expected, const std::vector<Finding>& findings) {
  std::vector<std::string> found;
  for (const ExpectedFinding& wanted : expected.findings) {
    const auto same = [&](const Finding& finding) {
      return finding.id == wanted.id && finding.subject == wanted.subject && finding.status == wanted.status;
    };
    if (std::any_of(findings.begin(), findings.end(), same)) continue;
    found.push_back("missing: " + words_for(wanted.id, wanted.subject, wanted.status));
  }
  for (const Finding& finding : findings) {
    if (!must_be_listed(finding.status)) continue;
    const auto same = [&](const ExpectedFinding& wanted) {
      return finding.id == wanted.id && finding.subject == wanted.subject && finding.status == wanted.status;
    };
    if (std::any_of(expected.findings.begin(), expected.findings.end(), same)) continue;
    found.push_back("not listed: " + words_for(finding.id, finding.subject, finding.status) + ": " + finding.observed);
  }
  return found;
}

}  // namespace sage
