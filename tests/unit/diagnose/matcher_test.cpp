#include "doctor/diagnose/matcher.hpp"

#include <doctest/doctest.h>

#include <string>

#include "probes/base/text.hpp"

namespace sage {
namespace {

const std::string some_rules = R"toml(
[[rule]]
name = "refused"
match = ['cannot open (?P<path>\S+): (?P<error>.*denied)']
subject = "{path}"
says = "{path}: {error}"
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "device.kfd-access"
  when = { path = 'kfd' }
  confidence = "likely"
  cause = "-"
  remedy = "-"
  [[rule.cause]]
  finding = "device.render-access"
  when = { path = 'dri' }
  confidence = "likely"
  cause = "-"
  remedy = "-"

[[rule]]
name = "any-refusal"
kind = "general"
match = ['(?i)denied']
says = "-"
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "gpu.present"
  confidence = "possible"
  cause = "-"
  remedy = "-"

[[rule]]
name = "near-python"
match = ['gave up']
near = ['python']
says = "-"
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "gpu.present"
  confidence = "possible"
  cause = "-"
  remedy = "-"
)toml";

const LogRules& rules() {
  static const LogRules read = [] {
    LogRules some;
    read_log_rules(some_rules, "some.toml", some);
    return some;
  }();
  return read;
}

std::vector<LogMessage> messages_in(const std::string& text) {
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  std::uint64_t number = 0;
  for (const std::string_view line : lines(text)) matcher.look_at({++number, line});
  return matcher.messages();
}

std::string lines_of_x(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "x\n";
  return text;
}

}  // namespace

TEST_CASE("matcher: the rules of this test are sound") {
  CHECK(rules().problems.empty());
  CHECK(rules().rules.size() == 3);
  CHECK(RuleExpressions(rules()).possible_in("").empty());
}

TEST_CASE("matcher: fields are captured, subjects kept apart, candidates chosen") {
  const auto found = messages_in(
      "a\ncannot open /dev/kfd: Permission denied\ncannot open /dev/dri/renderD128: Access denied\n"
      "cannot open /dev/kfd: Permission denied\ncannot open /etc/shadow: Permission denied\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].rule->name == "refused");
  CHECK(found[0].subject == "/dev/kfd");
  CHECK(found[0].words.at("error") == "Permission denied");
  CHECK(found[0].count == 2);
  CHECK(found[0].first == 2);
  CHECK(found[0].last == 4);
  REQUIRE(found[0].candidates.size() == 1);
  CHECK(found[0].candidates[0]->finding == "device.kfd-access");
  CHECK(found[1].subject == "/dev/dri/renderD128");
  CHECK(found[1].candidates[0]->finding == "device.render-access");
}

TEST_CASE("matcher: a general rule gives way on a line that a cause matches, and only there") {
  CHECK(messages_in("cannot open /dev/kfd: denied\n").size() == 1);
  const auto found = messages_in("cannot open /dev/kfd: denied\nAccess denied.\n");
  REQUIRE(found.size() == 2);
  CHECK(found[1].rule->name == "any-refusal");
  CHECK(found[1].first == 2);
}

TEST_CASE("matcher: a line near by, before or after, within forty") {
  CHECK(messages_in("gave up\n").empty());
  CHECK(messages_in("gave up, says python\n").size() == 1);
  CHECK(messages_in("python\n" + lines_of_x(39) + "gave up\n").size() == 1);
  CHECK(messages_in("python\n" + lines_of_x(40) + "gave up\n").empty());
  CHECK(messages_in("gave up\n" + lines_of_x(39) + "python\n").size() == 1);
  CHECK(messages_in("gave up\n" + lines_of_x(40) + "python\n").empty());
  const auto found = messages_in("gave up\n" + lines_of_x(60) + "gave up\npython\ngave up\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 2);
  CHECK(found[0].first == 62);
  // Progress bars fill the memory of lines, and this is still the same line.
  std::string bar;
  for (int i = 0; i < 200; ++i) bar += "x\r";
  CHECK(messages_in("python\n" + bar + "gave up\n").size() == 1);
  CHECK(messages_in("python\r" + bar + "gave up\n").size() == 1);
}

TEST_CASE("matcher: colours, carriage returns and NULs hide nothing") {
  CHECK(messages_in("\033[1mcannot \033[31mopen\033[0m /dev/kfd: denied\n")[0].rule->name == "refused");
  CHECK(messages_in("10%\r20%\rcannot open /dev/kfd: denied\r30%\n").size() == 1);
  CHECK(messages_in(std::string("c\0annot open /dev/kfd: denied\n", 31)).size() == 1);
}

TEST_CASE("matcher: the words around a match are shown of a long line, printable") {
  const auto found = messages_in(std::string(5000, 'a') + " \xff cannot open /dev/kfd: denied \xe2\x80\xae " +
                                 std::string(5000, 'b') + "\n");
  REQUIRE(found.size() == 1);
  const std::string& text = found[0].lines.at(0).line.text;
  CHECK(contains(text, "cannot open /dev/kfd: denied"));
  CHECK(text.starts_with("..."));
  CHECK(text.ends_with("..."));
  CHECK(text.size() < 400);
  CHECK(contains(text, "denied ? "));
}

TEST_CASE("matcher: a flood keeps memory and time in bounds") {
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  for (std::uint64_t i = 1; i <= 30'000; ++i) {
    const std::string line = "cannot open /dev/kfd" + std::to_string(i) + ": denied";
    matcher.look_at({i, line});
    matcher.look_at({i, "cannot open /dev/kfd: denied too"});
  }
  const auto found = matcher.messages();
  CHECK(found.size() == LogMatcher::most_subjects);
  for (const LogMessage& message : found) CHECK(message.lines.size() <= LogMatcher::most_lines);
}

TEST_CASE("matcher: after a flood its lines are still known") {
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  for (std::uint64_t i = 1; i <= LogMatcher::enough_matches; ++i) matcher.look_at({i, "gave up, says python"});
  matcher.look_at({20'000, "fatal: gave up, says python once more"});
  CHECK(matcher.suspects().only_plain());
  matcher.look_at({20'001, "fatal: something else"});
  CHECK_FALSE(matcher.suspects().only_plain());
}

TEST_CASE("matcher: of tracebacks the exception counts, with its last frames") {
  const auto found = messages_in(
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in <module>\n"
      "    main()\n"
      "  File \"b.py\", line 2, in main\n"
      "    g()\n"
      "  File \"c.py\", line 3, in g\n"
      "    raise RuntimeError('cannot open /dev/kfd: denied')\n"
      "RuntimeError: cannot open /dev/kfd: denied\n");
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].lines.size() == 1);
  CHECK(found[0].lines[0].line.number == 8);
  REQUIRE(found[0].lines[0].frames.size() == 2);
  CHECK(found[0].lines[0].frames[0].text == "File \"b.py\", line 2, in main");
  CHECK(found[0].lines[0].frames[1].number == 6);
}

TEST_CASE("matcher: the message of an exception may have several lines") {
  const auto found = messages_in(
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    f()\n"
      "RuntimeError: HIP error:\nsome advice\ncannot open /dev/kfd: denied\n" +
      lines_of_x(20) + "cannot open /dev/dri/x: denied\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].lines[0].part == TracebackPart::exception);
  CHECK(found[0].lines[0].frames.size() == 1);
  CHECK(found[1].lines[0].part == TracebackPart::none);
}

TEST_CASE("matcher: a traceback that breaks off before the exception still tells what it can") {
  const auto found = messages_in(
      "Traceback (most recent call last):\n  File \"c.py\", line 3, in g\n    raise E('cannot open /dev/kfd: "
      "denied')\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].lines[0].line.number == 3);
}

TEST_CASE("matcher: tracebacks with a prefix, and with lines of others in between") {
  const auto found = messages_in(
      "[rank0] 10:00:01 Traceback (most recent call last):\n"
      "[rank0] 10:00:01   File \"b.py\", line 2, in main\n"
      "[1/7] building something else\n"
      "[rank0] 10:00:02     g()\n"
      "[rank0] 10:00:02 torch.AcceleratorError: cannot open /dev/kfd: denied\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].lines[0].part == TracebackPart::exception);
  CHECK(found[0].lines[0].frames.size() == 1);
}

TEST_CASE("matcher: an exception that no rule knows is the first suspect") {
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  std::uint64_t number = 0;
  for (const std::string_view line :
       lines("warning: an error may follow\nTraceback (most recent call last):\n  File \"x\", line 1\n"
             "    raise Oops('error')\nmy.Oops: went wrong\nall fine\n")) {
    matcher.look_at({++number, line});
  }
  CHECK(matcher.messages().empty());
  const auto suspects = matcher.suspects().all();
  REQUIRE(suspects.size() == 2);
  CHECK(suspects[0].text == "my.Oops: went wrong");
  CHECK(suspects[0].number == 5);
  CHECK(suspects[1].number == 1);
}

TEST_CASE("matcher: lines that say that all is well are no suspects") {
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  matcher.look_at({1, "[64/64] tests: 31 passed, 0 failed"});
  matcher.look_at({2, "Build finished. Errors: 0"});
  CHECK(matcher.suspects().only_plain());
  matcher.look_at({3, "tests: 30 passed, 1 failed"});
  CHECK_FALSE(matcher.suspects().only_plain());
}

TEST_CASE("matcher: suspects are the first and the last, lines of the same shape once") {
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  for (std::uint64_t i = 1; i <= 200; ++i) {
    matcher.look_at({i, "error: 7 number " + std::string(i, 'e')});
    matcher.look_at({i, "error: at " + std::to_string(i)});
  }
  const auto suspects = matcher.suspects().all();
  CHECK(suspects.size() == Suspects::most_first + Suspects::most_last);
  CHECK(suspects.front().number == 1);
}

}  // namespace sage
