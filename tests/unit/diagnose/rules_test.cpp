#include "doctor/diagnose/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "doctor/build/compile/failures.hpp"
#include "doctor/diagnose/matcher.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

const std::string whole = R"toml(
[[log_finding]]
id = "log.some-thing"
title = "some thing"

[[rule]]
name = "some-rule"
kind = "general"
status = "warn"
match = ['cannot load (?P<file>\S+)', 'no way to load (?P<file>\S+) (?P<why>.*)']
near = ['python']
subject = "{file}"
says = "{file} was not loaded: {why}."
examples = ["cannot load libx.so"]
counter_examples = ["can load libx.so"]
sources = ["a manual"]
  [[rule.cause]]
  finding = "device.kfd-access"
  when = { file = '^lib' }
  unless = { why = 'busy' }
  confidence = "likely"
  cause = "Something with {file}."
  remedy = "Do {why}."
  commands = ["id"]
  needs = ["sudo", "new-login"]
  verify = "true"
  ask = "ls"
  [[rule.cause]]
  finding = "log.some-thing"
  confidence = "possible"
  cause = "Else."
  remedy = "Nothing."
)toml";

LogRules read(const std::string& text) {
  LogRules rules;
  read_log_rules(text, "some.toml", rules);
  return rules;
}

/// `whole` with one text replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string text = whole;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The messages of one rule in a text.
bool matches(const LogRules& rules, RuleExpressions& expressions, const LogRule& rule, const std::string& text) {
  LogMatcher matcher(rules, expressions);
  std::uint64_t number = 0;
  for (const std::string_view line : lines(text)) matcher.look_at({++number, line});
  const std::vector<LogMessage> messages = matcher.messages();
  return std::any_of(messages.begin(), messages.end(),
                     [&](const LogMessage& message) { return message.rule == &rule; });
}

/// One rule alone, so that others can't take its place.
LogRules alone(const LogRule& rule) {
  LogRules rules;
  rules.rules.push_back(rule);
  return rules;
}

/// All expressions that match a line, tried one by one.
std::vector<int> matching(const RuleExpressions& expressions, std::string_view line) {
  std::vector<int> numbers;
  for (int i = 0; i < static_cast<int>(expressions.size()); ++i) {
    if (found_in(expressions.expression(i), line)) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

TEST_CASE("rules: every key is read") {
  const LogRules rules = read(whole);
  CHECK(rules.problems.empty());
  REQUIRE(rules.rules.size() == 1);
  const LogRule& rule = rules.rules[0];
  CHECK(rule.name == "some-rule");
  CHECK(rule.kind == MessageKind::general);
  CHECK(rule.status == Status::warn);
  CHECK(rule.match.size() == 2);
  CHECK(rule.near.size() == 1);
  CHECK(rule.subject == "{file}");
  CHECK(rule.examples == std::vector<std::string>{"cannot load libx.so"});
  CHECK(rule.counter_examples.size() == 1);
  CHECK(rule.sources.size() == 1);
  REQUIRE(rule.causes.size() == 2);
  const CandidateCause& cause = rule.causes[0];
  CHECK(cause.finding == "device.kfd-access");
  CHECK_FALSE(cause.of_log());
  CHECK(cause.confidence == Confidence::likely);
  CHECK(cause.remedy.commands == std::vector<std::string>{"id"});
  CHECK(cause.remedy.needs == std::vector<Need>{Need::sudo, Need::new_login});
  CHECK(cause.verify == "true");
  CHECK(cause.ask == "ls");
  CHECK(rule.causes[1].of_log());
  REQUIRE(rules.find("log.some-thing"));
  CHECK(rules.find("log.some-thing")->title == "some thing");
  CHECK(rules.find("log.other") == nullptr);
}

TEST_CASE("rules: what captured fields say decides whether a candidate counts") {
  const CandidateCause cause = read(whole).rules[0].causes[0];
  CHECK(counts(cause, {{"file", "libx.so"}}));
  CHECK(counts(cause, {{"file", "libx.so"}, {"why", "no reason"}}));
  CHECK_FALSE(counts(cause, {{"file", "libx.so"}, {"why", "is busy"}}));
  CHECK_FALSE(counts(cause, {{"file", "xlib"}}));
  CHECK_FALSE(counts(cause, {}));
}

TEST_CASE("rules: a mistake names the file, the line and the key, and the row is left out") {
  struct Case {
    const char* from;
    const char* to;
    const char* problem;
  };
  const Case cases[] = {
      {"name = \"some-rule\"", "name = \"Some Rule\"", "needs a 'name'"},
      {"kind = \"general\"", "kind = \"special\"", "some.toml:8: rule.kind: expected one of \"cause\""},
      {"kind = \"general\"", "knd = \"general\"", "unknown key 'rule.knd' (did you mean 'kind'?)"},
      {"status = \"warn\"", "status = \"skip\"", "'status' is"},
      {"cannot load (?P", "cannot load (?X", "invalid perl operator"},
      {"cannot load", "can\u2019t load", "only ASCII"},
      {"near = ['python']", "near = ['(']", "missing"},
      {"says = \"{file}", "says = \"{path}", "no expression captures 'path'"},
      {"subject = \"{file}\"", "subject = \"{other}\"", "no expression captures 'other'"},
      {"cause = \"Something with {file}.\"", "cause = \"{where}\"", "no expression captures 'where'"},
      {"when = { file", "when = { place", "no expression captures 'place'"},
      {"examples = [\"cannot load libx.so\"]", "examples = []", "needs 'examples'"},
      {"sources = [\"a manual\"]", "", "needs 'sources'"},
      {"confidence = \"likely\"", "", "needs a 'confidence'"},
      {"remedy = \"Do {why}.\"", "", "needs a 'remedy'"},
      {"needs = [\"sudo\"", "needs = [\"luck\"", "expected a list of: one of"},
      {"match = [", "compiler_failure = \"none-such\"\nmatch = [", "failures.toml has no rule 'none-such'"},
      {"id = \"log.some-thing\"", "id = \"some-thing\"", "needs an 'id'"},
      {"title = \"some thing\"", "title = 7", "expected a string"},
      {"[[rule]]", "[rule]", "expected a list of tables"},
      {"[[rule]]", "[[rle]]\n[[rule]]", "unknown key 'rle'"},
      {"[[rule]]", "[[rule]", "some.toml:6"},
      {"kind", "\u00e4", "must stand in quotes"},
  };
  for (const Case& one : cases) {
    const LogRules rules = read(changed(one.from, one.to));
    REQUIRE_MESSAGE(rules.problems.size() == 1, one.problem);
    CHECK_MESSAGE(contains(rules.problems[0], one.problem), rules.problems[0]);
    CHECK_MESSAGE(contains(rules.problems[0], "some.toml:"), rules.problems[0]);
  }
  CHECK(read(changed("kind = \"general\"", "kind = \"special\"")).rules.empty());
}

TEST_CASE("rules: expressions for compilers' failures are those of the build") {
  const LogRules rules = read(
      changed("match = ['cannot load (?P<file>\\S+)', 'no way", "compiler_failure = \"disk-full\"\nmatch = ['no way"));
  REQUIRE(rules.rules.size() == 1);
  const std::vector<std::string> expected = failure_expressions("disk-full");
  REQUIRE(expected.size() > 1);
  CHECK(std::equal(expected.begin(), expected.end(), rules.rules[0].match.begin()));
}

TEST_CASE("embedded rules: they are sound") {
  const LogRules rules = embedded_rules_for_logs();
  CHECK(rules.rules.size() > 5);
  for (const std::string& problem : rules.problems) FAIL_CHECK(problem);
  RuleExpressions expressions(rules);
  // What is possible in an empty line has no literal, and would never be tried.
  for (const int number : expressions.possible_in("")) {
    FAIL_CHECK("no literal of four characters: " << rules.rules[expressions.rule_of(number)].name << ": "
                                                 << expressions.expression(number).pattern());
  }
}

TEST_CASE("embedded rules: what the literals sort out could not have matched") {
  const LogRules rules = embedded_rules_for_logs();
  RuleExpressions expressions(rules);
  LiteralFinder keys(expressions.keys());
  std::vector<std::string> texts;
  for (const LogRule& rule : rules.rules) {
    for (const std::string& text : rule.examples) {
      for (const std::string_view line : lines(text)) texts.emplace_back(line);
    }
  }
  // Also the beginning of one with the end of another, and both in capitals.
  std::mt19937 random(3);
  for (std::size_t i = 0, count = texts.size(); i < 10 * count; ++i) {
    const std::string& a = texts[random() % count];
    const std::string& b = texts[random() % count];
    texts.push_back(a.substr(0, random() % (a.size() + 1)) + b.substr(random() % (b.size() + 1)));
  }
  std::size_t matches = 0;
  for (const std::string& text : texts) {
    const std::vector<int> found = matching(expressions, text);
    const std::vector<int>& possible = expressions.possible_in(text);
    CHECK_MESSAGE(std::includes(possible.begin(), possible.end(), found.begin(), found.end()), text);
    if (found.empty()) continue;
    ++matches;
    CHECK_MESSAGE(!keys.find(text).empty(), text);
  }
  CHECK(matches >= rules.rules.size());
}

TEST_CASE("embedded rules: together they still know each other's examples") {
  const LogRules rules = embedded_rules_for_logs();
  RuleExpressions expressions(rules);
  for (const LogRule& rule : rules.rules) {
    if (rule.kind == MessageKind::general) continue;
    for (const std::string& text : rule.examples)
      CHECK_MESSAGE(matches(rules, expressions, rule, text), (rule.name + ": " + text));
  }
}

TEST_CASE("embedded rules: each matches its examples and none of its near misses") {
  for (const LogRule& rule : embedded_rules_for_logs().rules) {
    const LogRules one = alone(rule);
    RuleExpressions expressions(one);
    for (const std::string& text : rule.examples)
      CHECK_MESSAGE(matches(one, expressions, one.rules[0], text), (rule.name + ": " + text));
    for (const std::string& text : rule.counter_examples) {
      CHECK_MESSAGE(!matches(one, expressions, one.rules[0], text), (rule.name + ": " + text));
    }
  }
}

}  // namespace sage
