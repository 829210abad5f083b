#include "doctor/report/report.hpp"

#include <map>
#include <string_view>

namespace sage {

Summary summarize(const std::vector<Finding>& findings) {
  Summary summary;
  std::map<std::string_view, bool> reached_verdict;
  for (const Finding& finding : findings) {
    bool& reached = reached_verdict[finding.id];
    reached = reached || finding.status != Status::skip;
    if (finding.suppressed) {
      ++summary.suppressed;
      continue;
    }
    switch (finding.status) {
      case Status::pass: ++summary.pass; break;
      case Status::warn: ++summary.warn; break;
      case Status::fail: ++summary.fail; break;
      case Status::skip: ++summary.skip; break;
      case Status::error: ++summary.error; break;
      case Status::info: ++summary.info; break;
    }
  }
  for (const auto& [id, reached] : reached_verdict) ++(reached ? summary.checks : summary.checks_skipped);
  return summary;
}

int exit_status(const Summary& summary, bool strict) {
  if (summary.fail > 0 || (strict && summary.warn > 0)) return 1;
  return summary.error > 0 ? 2 : 0;
}

}  // namespace sage
