#include "doctor/diagnose/diagnosis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "doctor/diagnose/guesses.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

LogRules some_rules() {
  LogRules rules;
  const auto add = [&](std::string name, std::string example) {
    LogRule rule;
    rule.name = std::move(name);
    rule.match = {"(?i)" + RE2::QuoteMeta(example)};
    rule.says = "-";
    rule.examples = {std::move(example)};
    CandidateCause cause;
    cause.finding = "log." + rule.name;
    rule.causes = {cause};
    rules.rules.push_back(std::move(rule));
  };
  add("kfd", "Unable to open /dev/kfd read-write: Permission denied");
  add("glibc", "version GLIBCXX_3.4.30 not found");
  add("header", "fatal error: thrust/detail/complex.h file not found");
  return rules;
}

LogSource source_of(const std::string& text) {
  return [text, at = std::size_t{0}](char* into, std::size_t size) mutable -> Result<std::size_t> {
    const std::size_t count = std::min(size, text.size() - at);
    std::memcpy(into, text.data() + at, count);
    at += count;
    return count;
  };
}

std::string problem_of(const std::string& bytes) {
  const auto reading = read_log(source_of(bytes), some_rules());
  REQUIRE_FALSE(reading.ok());
  return reading.error().text;
}

Diagnosis diagnosis_of(const std::string& text) {
  const LogRules rules = some_rules();
  const auto reading = read_log(source_of(text), rules);
  REQUIRE(reading.ok());
  return diagnose(*reading, rules, "b.log", std::nullopt);
}

}  // namespace

TEST_CASE("diagnosis: an empty log and compressed ones are errors that say what to do") {
  CHECK(contains(problem_of(""), "2>&1"));
  CHECK(contains(problem_of("\x1f\x8b\x08 and more"), "zcat"));
  CHECK(contains(problem_of("\x28\xb5\x2f\xfd"), "zstdcat"));
  CHECK(contains(problem_of("PK\x03\x04"), "unzip -p"));
}

TEST_CASE("diagnosis: an error while reading is an error, whatever was understood before") {
  int calls = 0;
  const auto reading = read_log(
      [&](char* into, std::size_t) -> Result<std::size_t> {
        if (++calls > 1) return Error{EIO, "it broke"};
        std::memcpy(into, "x\n", 2);
        return std::size_t{2};
      },
      some_rules());
  REQUIRE_FALSE(reading.ok());
  CHECK(reading.error().text == "it broke");
}

TEST_CASE("diagnosis: what was read is counted") {
  const Diagnosis found = diagnosis_of("one\nunable to open /dev/kfd read-write: permission denied\n");
  CHECK(found.summary.name == "b.log");
  CHECK(found.summary.lines == 2);
  CHECK(found.summary.bytes == 58);
  CHECK(found.summary.encoding == "UTF-8");
  CHECK(found.summary.rules == 3);
  CHECK_FALSE(found.summary.machine);
  REQUIRE(found.summary.matched.size() == 1);
  CHECK(found.summary.matched[0].rule == "kfd");
  CHECK(found.summary.matched[0].first == 2);
  CHECK_FALSE(found.summary.nothing_known());
  CHECK(found.summary.unknown.empty());
  CHECK(found.summary.guesses.empty());
}

TEST_CASE("diagnosis: unknown text gives its suspect lines and the nearest known messages") {
  const Diagnosis found = diagnosis_of("hello\nfailed to open /dev/kfd for read and write: denied\n");
  CHECK(found.findings.empty());
  CHECK(found.summary.nothing_known());
  REQUIRE(found.summary.unknown.size() == 1);
  CHECK(found.summary.unknown[0].line == 2);
  REQUIRE(found.summary.guesses.size() == 1);
  CHECK(found.summary.guesses[0].rule == "kfd");
  CHECK(found.summary.guesses[0].finding == "log.kfd");
  CHECK(found.summary.guesses[0].line == 2);
  CHECK(std::count(found.summary.guesses[0].shared.begin(), found.summary.guesses[0].shared.end(), "kfd") == 1);
}

TEST_CASE("diagnosis: text that is near to nothing gives no guess") {
  const Diagnosis found = diagnosis_of("everything went well\n");
  CHECK(found.summary.nothing_known());
  CHECK(found.summary.unknown.empty());
  CHECK(found.summary.guesses.empty());
  CHECK(diagnosis_of("error: file not there\n").summary.guesses.empty());
}

TEST_CASE("guesses: rare words count more, the best rule comes first and each once") {
  const LogRules rules = some_rules();
  const std::vector<NumberedLine> lines = {{1, "thrust and complex.h"},
                                           {2, "thrust/detail/complex.h is nowhere"},
                                           {3, "GLIBCXX version found, of some other library"}};
  const auto guesses = guess(lines, rules);
  REQUIRE(guesses.size() == 2);
  CHECK(guesses[0].rule == "header");
  CHECK(guesses[0].line == 2);
  CHECK(guesses[1].rule == "glibc");
  CHECK(guess({}, rules).empty());
  CHECK(guess(lines, LogRules()).empty());
}

}  // namespace sage
