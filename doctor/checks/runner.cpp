#include "doctor/checks/runner.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <string>

#include "doctor/checks/as_root.hpp"

namespace sage {
namespace {

const Check* find_in(const std::vector<Check>& table, std::string_view id) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Check& check) { return check.id == id; });
  return found == table.end() ? nullptr : &*found;
}

void add_with_prerequisites(const std::vector<Check>& table, const Check* check, std::set<const Check*>& wanted) {
  if (check == nullptr || !wanted.insert(check).second) return;
  for (const std::string_view id : check->depends) add_with_prerequisites(table, find_in(table, id), wanted);
}

// For each subject that a finished check can't vouch for, the id at the root of the trouble. The empty subject stands
// for the check as a whole.
using Blockers = std::map<std::string, std::string>;

std::vector<Finding> run_one(const Check& check, const CheckInput& input) {
  try {
    return check.run(input);
  } catch (const std::exception& problem) {
    return {make_finding(Status::error, std::string("this check broke: ") + problem.what())};
  }
}

Finding blocked(const std::string& subject, const std::string& blocker) {
  Finding finding = make_finding(Status::skip, "waits for " + blocker, subject);
  finding.blocked_by = blocker;
  return finding;
}

}  // namespace

std::vector<Finding> run_checks(const std::vector<Check>& table, const std::vector<const Check*>& selected,
                                const CheckInput& input) {
  std::set<const Check*> wanted;
  for (const Check* check : selected) add_with_prerequisites(table, check, wanted);

  std::vector<Finding> all;
  std::map<std::string_view, Blockers> blockers_of;
  for (const Check& check : table) {
    if (!wanted.contains(&check)) continue;

    Blockers blockers;
    for (const std::string_view id : check.depends) {
      const Blockers& inherited = blockers_of[id];
      blockers.insert(inherited.begin(), inherited.end());
    }

    std::vector<Finding> findings;
    if (auto skip = check.out_of_scope == nullptr ? std::nullopt : check.out_of_scope(input.facts)) {
      findings.push_back(std::move(*skip));
    } else if (const auto whole = blockers.find(""); whole != blockers.end()) {
      findings.push_back(blocked("", whole->second));
    } else {
      for (Finding& finding : run_one(check, input)) {
        const auto one = blockers.find(finding.subject);
        findings.push_back(one == blockers.end() ? std::move(finding) : blocked(finding.subject, one->second));
      }
    }
    for (Finding& finding : findings) {
      finding.id = check.id;
      finding.title = check.title;
      finding.topic = check.topic;
      if (finding.status == Status::fail) blockers.emplace(finding.subject, finding.id);
      all.push_back(std::move(finding));
    }
    blockers_of[check.id] = std::move(blockers);
  }
  fit_commands_to_user(all, input.facts.platform);
  return all;
}

}  // namespace sage
