#include "doctor/diagnose/rules.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "doctor/build/compile/failures.hpp"
#include "doctor/checks/registry.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/toml_guard.hpp"
#include "probes/host/toml_section.hpp"

namespace sage {
namespace {

using toml_section::Problems;
using toml_section::Section;
using Tables = std::vector<const toml::table*>;

bool is_slug(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

/// The expression, or the problem told.
ExpressionPointer compile(const std::string& text, Section& section) {
  auto expression = std::make_shared<const RE2>(text, message_options());
  if (!expression->ok()) section.problem("'" + text + "': " + expression->error());
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    section.problem("'" + text + "': only ASCII can be looked for");
  }
  return expression->ok() ? expression : nullptr;
}

class RuleReader {
 public:
  RuleReader(const toml::table& table, Problems& problems) : section_(table, "rule.", problems), problems_(problems) {}

  LogRule read() {
    section_.read("name", rule_.name);
    section_.read("kind", rule_.kind);
    section_.read("status", rule_.status);
    read_expressions();
    section_.read("subject", rule_.subject);
    section_.read("says", rule_.says);
    section_.read("examples", rule_.examples);
    section_.read("counter_examples", rule_.counter_examples);
    section_.read("sources", rule_.sources);
    for (const toml::table* table : section_.find_tables("cause").value_or(Tables())) read_cause(*table);
    section_.close();

    if (!is_slug(rule_.name)) section_.problem("needs a 'name' of lower case letters, digits and hyphens");
    if (rule_.says.empty()) section_.problem("needs 'says'");
    if (rule_.examples.empty()) section_.problem("needs 'examples'");
    if (rule_.sources.empty()) section_.problem("needs 'sources'");
    if (rule_.causes.empty()) section_.problem("needs a [[rule.cause]]");
    if (rule_.status != Status::fail && rule_.status != Status::warn && rule_.status != Status::info) {
      section_.problem("'status' is \"fail\", \"warn\" or \"info\"");
    }
    check_template(section_, rule_.says);
    check_template(section_, rule_.subject);
    return std::move(rule_);
  }

 private:
  void read_expressions() {
    std::string failure;
    if (section_.read("compiler_failure", failure)) {
      rule_.match = failure_expressions(failure);
      if (rule_.match.empty()) section_.problem("failures.toml has no rule '" + failure + "'");
    }
    std::vector<std::string> own;
    section_.read("match", own);
    rule_.match.insert(rule_.match.end(), own.begin(), own.end());
    if (rule_.match.empty()) section_.problem("needs 'match' or 'compiler_failure'");
    std::vector<std::string> near;
    section_.read("near", near);
    for (const std::string& text : rule_.match) {
      if (const auto expression = compile(text, section_)) {
        for (const auto& [name, index] : expression->NamedCapturingGroups()) groups_.insert(name);
      }
    }
    for (const std::string& text : near) rule_.near.push_back(compile(text, section_));
  }

  void read_cause(const toml::table& table) {
    Section section(table, "rule.cause.", problems_);
    CandidateCause cause;
    section.read("finding", cause.finding);
    cause.when = read_conditions(section, "when");
    cause.unless = read_conditions(section, "unless");
    const bool has_confidence = section.read("confidence", cause.confidence);
    section.read("cause", cause.cause);
    section.read("remedy", cause.remedy.text);
    section.read("commands", cause.remedy.commands);
    section.read("needs", cause.remedy.needs);
    section.read("verify", cause.verify);
    section.read("ask", cause.ask);
    section.close();

    if (cause.finding.empty()) section.problem("needs a 'finding'");
    if (!has_confidence) section.problem("needs a 'confidence'");
    if (cause.cause.empty()) section.problem("needs a 'cause'");
    if (cause.remedy.text.empty()) section.problem("needs a 'remedy'");
    check_template(section, cause.cause);
    check_template(section, cause.remedy.text);
    rule_.causes.push_back(std::move(cause));
  }

  std::vector<Condition> read_conditions(Section& section, std::string_view key) {
    std::map<std::string, std::string> texts;
    section.read(key, texts);
    std::vector<Condition> conditions;
    for (const auto& [group, text] : texts) {
      if (!groups_.contains(group)) section.problem("no expression captures '" + group + "'");
      if (auto expression = compile(text, section)) conditions.emplace_back(group, std::move(expression));
    }
    return conditions;
  }

  void check_template(Section& section, std::string_view text) {
    for (const std::string& name : names_in(text)) {
      if (!groups_.contains(name)) section.problem("no expression captures '" + name + "'");
    }
  }

  Section section_;
  Problems& problems_;
  LogRule rule_;
  std::set<std::string> groups_;
};

LogFinding read_finding(const toml::table& table, Problems& problems) {
  Section section(table, "log_finding.", problems);
  LogFinding finding;
  section.read("id", finding.id);
  section.read("title", finding.title);
  section.close();
  if (!finding.id.starts_with("log.") || !is_slug(finding.id.substr(4)))
    section.problem("needs an 'id' such as \"log.some-words\"");
  if (finding.title.empty()) section.problem("needs a 'title'");
  return finding;
}

void look_across(LogRules& rules) {
  std::set<std::string_view> names;
  std::set<std::string_view> ids;
  std::set<std::string_view> used;
  for (const LogFinding& finding : rules.findings) {
    if (!ids.insert(finding.id).second) rules.problems.push_back(finding.id + " is declared twice");
  }
  for (const LogRule& rule : rules.rules) {
    if (!names.insert(rule.name).second) rules.problems.push_back("two rules are called " + rule.name);
    for (const CandidateCause& cause : rule.causes) {
      used.insert(cause.finding);
      const bool known = cause.of_log() ? ids.contains(cause.finding) : find_check(cause.finding) != nullptr;
      if (!known) rules.problems.push_back(rule.name + ": there is no finding " + cause.finding);
    }
  }
  for (const std::string_view id : ids) {
    if (!used.contains(id)) rules.problems.push_back(std::string(id) + " is declared and never used");
  }
}

}  // namespace

const LogFinding* LogRules::find(std::string_view id) const {
  const auto found =
      std::find_if(findings.begin(), findings.end(), [&](const LogFinding& row) { return row.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

void read_log_rules(std::string_view text, std::string_view file, LogRules& rules) {
  if (const auto problem = toml_text_problem(text, file)) {
    rules.problems.push_back(problem->text);
    return;
  }
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    rules.problems.push_back(std::string(file) + ":" + std::to_string(parsed.error().source().begin.line) + ": " +
                             std::string(parsed.error().description()));
    return;
  }
  std::optional<Error> first;
  const auto read_each = [&](Section& top, std::string_view key, const auto& read, auto& rows) {
    for (const toml::table* table : top.find_tables(key).value_or(Tables())) {
      Problems problems{std::string(file)};
      auto row = read(*table, problems);
      if (!problems.first()) rows.push_back(std::move(row));
      if (!first) first = problems.first();
    }
  };
  Problems problems{std::string(file)};
  Section top(parsed.table(), "", problems);
  read_each(top, "log_finding", read_finding, rules.findings);
  read_each(
      top, "rule", [](const toml::table& table, Problems& p) { return RuleReader(table, p).read(); }, rules.rules);
  top.close();
  if (!first) first = problems.first();
  if (first) rules.problems.push_back(first->text);
}

LogRules embedded_rules_for_logs() {
  LogRules rules;
  for (const EmbeddedFile& file : embedded_log_rules()) read_log_rules(file.text, file.name, rules);
  look_across(rules);
  return rules;
}

bool counts(const CandidateCause& cause, const Words& words) {
  const auto holds = [&](const Condition& condition) {
    const auto word = words.find(condition.first);
    return found_in(*condition.second, word == words.end() ? std::string_view() : std::string_view(word->second));
  };
  return std::all_of(cause.when.begin(), cause.when.end(), holds) &&
         std::none_of(cause.unless.begin(), cause.unless.end(), holds);
}

}  // namespace sage
