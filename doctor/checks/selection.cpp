#include "doctor/checks/selection.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <optional>

#include "probes/base/nearest.hpp"

namespace sage {
namespace {

bool matches(const Check& check, const std::string& pattern) {
  return enum_name(check.topic) == pattern || fnmatch(pattern.c_str(), std::string(check.id).c_str(), 0) == 0;
}

bool matches_any(const Check& check, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return matches(check, p); });
}

std::optional<Error> pattern_without_match(const std::vector<Check>& table, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (std::any_of(table.begin(), table.end(), [&](const Check& check) { return matches(check, pattern); })) continue;
    std::vector<std::string_view> names;
    for (const auto& [topic, name] : enum_names<Topic>) names.emplace_back(name);
    for (const Check& check : table) names.emplace_back(check.id);
    return Error{0, "no check matches '" + pattern + "'" + did_you_mean(pattern, names) +
                        "; 'sage-doctor list' shows them all"};
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<const Check*>> select_checks(const std::vector<Check>& table, const std::vector<std::string>& only,
                                                const std::vector<std::string>& skip) {
  if (auto problem = pattern_without_match(table, only)) return *problem;
  if (auto problem = pattern_without_match(table, skip)) return *problem;
  std::vector<const Check*> selected;
  for (const Check& check : table) {
    if ((only.empty() || matches_any(check, only)) && !matches_any(check, skip)) selected.push_back(&check);
  }
  if (selected.empty()) return Error{0, "--only and --skip together leave no check"};
  return selected;
}

}  // namespace sage
