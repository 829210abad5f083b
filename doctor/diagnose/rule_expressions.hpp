#pragma once

#include <re2/filtered_re2.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/diagnose/literal_finder.hpp"
#include "doctor/diagnose/rules.hpp"

namespace sage {

/// The `match` expressions of all rules, and which of them are worth a try in a line, by the literals that it has.
/// Costs some ten milliseconds to make.
class RuleExpressions {
 public:
  explicit RuleExpressions(const LogRules& rules);

  /// Few literals, one of which is in every line that can match: of each expression the longest that it can't do
  /// without. Words such as "torch" stand in every second line; this leaves them for lines that have more.
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

  /// The expressions that need a key, by its number.
  [[nodiscard]] const std::vector<int>& expressions_of_key(std::size_t key) const { return expressions_of_key_[key]; }

  /// Numbers of expressions that may match a line, in their order. Valid until the next call.
  [[nodiscard]] const std::vector<int>& possible_in(std::string_view line);

  [[nodiscard]] std::size_t size() const { return rule_of_.size(); }
  [[nodiscard]] std::size_t rule_of(int number) const { return rule_of_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const RE2& expression(int number) const { return filter_.GetRE2(number); }

 private:
  void find_keys(const std::vector<std::string>& literals);

  re2::FilteredRE2 filter_;
  std::vector<std::size_t> rule_of_;
  LiteralFinder literals_;
  std::vector<std::string> keys_;
  std::vector<std::vector<int>> expressions_of_key_;
  std::vector<int> last_literals_;  ///< many lines in a row have the same
  std::vector<int> last_possible_;
};

}  // namespace sage
