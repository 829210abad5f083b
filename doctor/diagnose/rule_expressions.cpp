#include "doctor/diagnose/rule_expressions.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace sage {
namespace {

constexpr int shortest_literal = 4;

}  // namespace

RuleExpressions::RuleExpressions(const LogRules& rules) : filter_(shortest_literal), literals_({}) {
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    for (const std::string& text : rules.rules[i].match) {
      int number = 0;
      if (filter_.Add(text, message_options(), &number) == RE2::NoError) rule_of_.push_back(i);
    }
  }
  if (rule_of_.empty()) return;
  std::vector<std::string> literals;
  filter_.Compile(&literals);
  filter_.AllPotentials({}, &last_possible_);
  literals_ = LiteralFinder(literals);
  find_keys(literals);
}

const std::vector<int>& RuleExpressions::possible_in(std::string_view line) {
  const std::vector<int>& literals = literals_.find(line);
  if (literals == last_literals_) return last_possible_;
  last_literals_ = literals;
  filter_.AllPotentials(literals, &last_possible_);
  return last_possible_;
}

void RuleExpressions::find_keys(const std::vector<std::string>& literals) {
  // An expression that is not possible when all literals but one are there can't do without that one.
  std::vector<const std::string*> key_of(rule_of_.size(), nullptr);
  std::vector<int> numbers;
  for (std::size_t i = 0; i < literals.size(); ++i) {
    std::vector<int> others(literals.size());
    std::iota(others.begin(), others.end(), 0);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    filter_.AllPotentials(others, &numbers);
    for (std::size_t e = 0; e < key_of.size(); ++e) {
      if (std::binary_search(numbers.begin(), numbers.end(), static_cast<int>(e))) continue;
      if (key_of[e] == nullptr || key_of[e]->size() < literals[i].size()) key_of[e] = &literals[i];
    }
  }
  std::map<std::string, std::vector<int>> keys;
  for (std::size_t e = 0; e < key_of.size(); ++e) {
    const auto number = static_cast<int>(e);
    if (key_of[e] != nullptr) {
      keys[*key_of[e]].push_back(number);
      continue;
    }
    // Alternatives: any literal of this expression may be the first sign of it.
    re2::FilteredRE2 alone(shortest_literal);
    int only = 0;
    std::vector<std::string> own;
    if (alone.Add(expression(number).pattern(), message_options(), &only) == RE2::NoError) alone.Compile(&own);
    for (const std::string& literal : own) keys[literal].push_back(number);
  }
  for (auto& [key, expressions] : keys) {
    keys_.push_back(key);
    expressions_of_key_.push_back(std::move(expressions));
  }
}

}  // namespace sage
