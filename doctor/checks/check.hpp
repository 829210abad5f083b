#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/checks/finding.hpp"
#include "probes/base/fact.hpp"
#include "probes/facts/facts.hpp"
#include "probes/gfx_tables.hpp"

namespace sage {

/// All that a check may look at.
struct CheckInput {
  const Facts& facts;
  const GfxTables& tables;
};

/// A pure function from facts to findings: it reads nothing else and decides nothing by time or chance. It fills
/// subject, status and the texts; it returns at least one finding.
using CheckFunction = std::vector<Finding> (*)(const CheckInput&);

/// The "does not apply" of a check that this kind of machine can never need; nullopt where it may have something to
/// say.
using ScopeFunction = std::optional<Finding> (*)(const Facts&);

struct Check {
  std::string_view id;
  std::string_view title;
  Topic topic = Topic::platform;
  std::vector<std::string_view> depends;  ///< a failure there leaves nothing to say here
  CheckFunction run = nullptr;
  ScopeFunction out_of_scope = nullptr;  ///< asked before the prerequisites; nullptr: the check is for every machine
};

// ---- words for check functions

[[nodiscard]] Finding make_finding(Status status, std::string observed, std::string subject = {});
[[nodiscard]] Finding pass(std::string observed, std::string subject = {});
[[nodiscard]] Finding info(std::string observed, std::string subject = {});
[[nodiscard]] Finding warn(std::string observed, std::string subject = {});
[[nodiscard]] Finding fail(std::string observed, std::string subject = {});
/// "does not apply: <why>", a skip
[[nodiscard]] Finding not_applicable(std::string_view why, std::string subject = {});
/// Whether a finding is one of those: a skip that is no gap in what was looked at.
[[nodiscard]] bool does_not_apply(const Finding& finding);

[[nodiscard]] bool does_not_apply(const Finding& finding);

/// A fact that a check can't do without, by the name that a reader finds in the JSON.
using NeededFact = std::pair<std::string_view, const FactBase*>;

/// A skip that names the first unknown fact and the reason; nullopt when all are known.
[[nodiscard]] std::optional<Finding> skip_unless_known(std::initializer_list<NeededFact> facts,
                                                       std::string subject = {});

}  // namespace sage
