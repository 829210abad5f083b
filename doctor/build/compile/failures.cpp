#include "doctor/build/compile/failures.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "doctor/messages/expression.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/text.hpp"
#include "probes/host/toml_section.hpp"
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

using toml_section::Section;

Rule read_rule(const toml::table& table, toml_section::Problems& problems) {
  Section section(table, "rule.", problems);
  Rule rule;
  std::vector<std::string> match;
  section.read("id", rule.id);
  section.read("match", match);
  section.read("cause", rule.cause);
  section.read("remedy", rule.remedy);
  section.close();
  if (rule.id.empty() || match.empty() || rule.cause.empty() || rule.remedy.empty()) {
    section.problem("needs 'id', 'match', 'cause' and 'remedy'");
  }
  for (const std::string& text : match) {
    auto expression = std::make_unique<RE2>(text, message_options());
    if (!expression->ok()) section.problem("'" + text + "': " + expression->error());
    if (expression->ok()) rule.match.push_back(std::move(expression));
  }
  return rule;
}

Rules read_rules() {
  Rules rules;
  for (const EmbeddedFile& file : embedded_failure_rules()) {
    const toml::parse_result parsed = toml::parse(file.text, file.name);
    if (!parsed) {
      rules.problems.emplace_back(parsed.error().description());
      continue;
    }
    toml_section::Problems problems{std::string(file.name)};
    Section top(parsed.table(), "", problems);
    for (const toml::table* row : top.find_tables("rule").value_or(std::vector<const toml::table*>())) {
      rules.rows.push_back(read_rule(*row, problems));
    }
    top.close();
    if (problems.first()) rules.problems.push_back(problems.first()->text);
  }
  return rules;
}

const Rules& embedded_rules() {
  static const Rules rules = read_rules();
  return rules;
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

std::optional<Words> match(const Rule& rule, std::string_view line) {
  for (const auto& expression : rule.match) {
    if (auto found = find_message(*expression, line)) return std::move(found->words);
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
  for (const Rule& rule : embedded_rules().rows) {
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

std::vector<std::string> failure_rule_problems() { return embedded_rules().problems; }

std::vector<std::string> failure_ids() {
  std::vector<std::string> ids;
  for (const Rule& rule : embedded_rules().rows) ids.push_back(rule.id);
  return ids;
}

std::vector<std::string> failure_expressions(std::string_view id) {
  std::vector<std::string> expressions;
  for (const Rule& rule : embedded_rules().rows) {
    if (rule.id != id) continue;
    for (const auto& expression : rule.match) expressions.push_back(expression->pattern());
  }
  return expressions;
}

}  // namespace sage
