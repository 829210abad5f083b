#include "doctor/build/compile/failures.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <toml++/toml.h>

#include "probes/base/embedded.hpp"
#include "probes/base/text.hpp"
#include "probes/proof_child/outcome.hpp"

namespace sage {
namespace {

constexpr std::size_t most_evidence = 3;
constexpr std::size_t longest_line = 4096;  // looked at; a longer one is cut
constexpr std::size_t widest_evidence = 200;

struct Rule {
  std::string id;
  std::vector<std::unique_ptr<RE2>> match;
  std::string cause;
  std::string remedy;
};

struct Rules {
  std::vector<Rule> rows;
  std::vector<std::string> problems;
};

std::string text_at(const toml::table& table, std::string_view key, Rules& rules) {
  const auto value = table[key].value<std::string>();
  if (!value || value->empty()) rules.problems.push_back("a rule has no text '" + std::string(key) + "'");
  return value.value_or("");
}

void read_expressions(const toml::table& table, Rule& rule, Rules& rules) {
  RE2::Options options;
  options.set_log_errors(false);
  const toml::array* list = table["match"].as_array();
  if (list == nullptr || list->empty()) rules.problems.push_back(rule.id + ": 'match' must be a list");
  if (list == nullptr) return;
  for (const toml::node& node : *list) {
    auto expression = std::make_unique<RE2>(node.value<std::string>().value_or("("), options);
    if (!expression->ok()) {
      rules.problems.push_back(rule.id + ": " + expression->pattern() + ": " + expression->error());
      continue;
    }
    rule.match.push_back(std::move(expression));
  }
}

Rules read_rules() {
  Rules rules;
  for (const EmbeddedFile& file : embedded_failure_rules()) {
    const toml::parse_result parsed = toml::parse(file.text, file.name);
    if (!parsed) {
      rules.problems.emplace_back(parsed.error().description());
      continue;
    }
    const toml::array* rows = parsed.table()["rule"].as_array();
    if (rows == nullptr) continue;
    for (const toml::node& node : *rows) {
      const toml::table* table = node.as_table();
      if (table == nullptr) continue;
      Rule rule;
      rule.id = text_at(*table, "id", rules);
      rule.cause = text_at(*table, "cause", rules);
      rule.remedy = text_at(*table, "remedy", rules);
      read_expressions(*table, rule, rules);
      rules.rows.push_back(std::move(rule));
    }
  }
  return rules;
}

using Words = std::map<std::string, std::string>;

/// "{name}" becomes the word of that name; a name without a word becomes "?".
std::string filled(std::string_view text, const Words& words) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open == std::string_view::npos ? text.size() : open);
    result += text.substr(0, open);
    if (close == std::string_view::npos) break;
    const auto found = words.find(std::string(text.substr(open + 1, close - open - 1)));
    result += found == words.end() || found->second.empty() ? "?" : found->second;
    text.remove_prefix(close + 1);
  }
  return result;
}

std::string outcome_line(const JobEnd& end, const FailureFacts& facts) {
  std::string words;
  switch (end.ending) {
    case JobEnding::not_started: words = "could not be started"; break;
    case JobEnding::stopped: words = "stopped"; break;
    case JobEnding::timed_out:
    case JobEnding::killed:
    case JobEnding::exited: {
      ChildOutcome outcome;
      outcome.exit_status = end.exit_status;
      outcome.signal = end.ending == JobEnding::killed ? end.signal : 0;
      outcome.timed_out = end.ending == JobEnding::timed_out;
      words = outcome_of(outcome, facts.deadline);
      break;
    }
  }
  if (end.good() && !facts.wrote_output) words += ", without output";
  if (facts.disk_full) words += ", no space left";
  return "[" + words + "]";
}

/// The groups of a match by name; nullopt: the line does not match.
std::optional<Words> match(const RE2& expression, std::string_view line) {
  const int count = expression.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(count));
  const re2::StringPiece text(line.data(), line.size());
  if (!expression.Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(), count)) return std::nullopt;
  Words words;
  for (const auto& [name, index] : expression.NamedCapturingGroups()) {
    const re2::StringPiece& group = groups[static_cast<std::size_t>(index)];
    if (!group.empty()) words[name] = brief({group.data(), group.size()});
  }
  return words;
}

std::optional<Words> match(const Rule& rule, std::string_view line) {
  for (const auto& expression : rule.match) {
    if (auto words = match(*expression, line)) return words;
  }
  return std::nullopt;
}

void add_evidence(BuildFailure& failure, std::string_view line) {
  std::string text = brief(line).substr(0, widest_evidence);
  const auto& known = failure.evidence;
  if (text.empty() || known.size() >= most_evidence) return;
  if (std::find(known.begin(), known.end(), text) == known.end()) failure.evidence.push_back(std::move(text));
}

/// The line that decided, then others that the rule matches, then other errors.
void collect_evidence(const Rule* rule, const std::vector<std::string_view>& talk, std::string_view decisive,
                      BuildFailure& failure) {
  add_evidence(failure, decisive);
  for (const std::string_view line : talk) {
    if (failure.evidence.size() >= most_evidence) return;
    if (rule != nullptr && match(*rule, line)) add_evidence(failure, line);
  }
  for (const std::string_view line : talk) {
    if (contains(line, "error") || contains(line, "fatal")) add_evidence(failure, line);
  }
}

}  // namespace

BuildFailure explain_failure(const JobEnd& end, const FailureFacts& facts) {
  static const Rules rules = read_rules();
  const std::string outcome = outcome_line(end, facts);
  std::vector<std::string_view> talk;
  for (const std::string_view line : lines(end.output)) {
    const std::string_view bare = trim(line).substr(0, longest_line);
    if (!bare.empty()) talk.push_back(bare);
  }
  talk.push_back(outcome);

  Words words = {{"compiler", facts.compiler},
                 {"kind", std::string(enum_name(facts.kind))},
                 {"target", facts.target},
                 {"parallel", std::to_string(facts.parallel)},
                 {"fewer", std::to_string(std::max<std::size_t>(facts.parallel / 2, 1))}};
  BuildFailure failure;
  for (const Rule& rule : rules.rows) {
    for (const std::string_view line : talk) {
      auto captured = match(rule, line);
      if (!captured) continue;
      words.merge(*captured);
      failure.id = rule.id;
      failure.cause = filled(rule.cause, words);
      failure.remedy = filled(rule.remedy, words);
      collect_evidence(&rule, talk, line, failure);
      return failure;
    }
  }
  failure.id = "unknown";
  failure.cause = facts.compiler + " failed: " + outcome.substr(1, outcome.size() - 2) + ".";
  collect_evidence(nullptr, talk, talk.size() > 1 ? talk[talk.size() - 2] : "", failure);
  add_evidence(failure, outcome);
  return failure;
}

std::vector<std::string> failure_rule_problems() {
  Rules rules = read_rules();
  return std::move(rules.problems);
}

}  // namespace sage
