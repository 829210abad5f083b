#include "doctor/diagnose/judge.hpp"

#include <doctest/doctest.h>

#include <string>

#include "doctor/checks/registry.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

const std::string some_rules = R"toml(
[[log_finding]]
id = "log.else"
title = "something else"

[[log_finding]]
id = "log.stopped"
title = "stopped"

[[rule]]
name = "refused"
match = ['kfd refused']
says = "KFD was refused."
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "device.kfd-access"
  confidence = "likely"
  cause = "No right"
  remedy = "Get it."
  verify = "test"
  ask = "ls -l /dev/kfd"

[[rule]]
name = "no-gpu"
match = ['no gpu for (?P<who>\w+)']
says = "{who} found no GPU."
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "python.torch-flavour"
  confidence = "possible"
  cause = "Wrong wheel."
  remedy = "Another."
  ask = "python -c 1"
  [[rule.cause]]
  finding = "device.kfd-access"
  confidence = "possible"
  cause = "No right."
  remedy = "Get it."

[[rule]]
name = "odd"
status = "info"
match = ['odd line']
says = "An odd line."
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "log.else"
  confidence = "certain"
  cause = "It is harmless."
  remedy = "Nothing is to be done."

[[rule]]
name = "stopped"
kind = "consequence"
match = ['build stopped']
says = "The build stopped."
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "log.stopped"
  confidence = "certain"
  cause = "See above."
  remedy = "See above."

[[rule]]
name = "bad-advice"
kind = "advice"
status = "warn"
match = ['chmod 666']
says = "Bad advice."
examples = ["-"]
sources = ["-"]
  [[rule.cause]]
  finding = "log.else"
  confidence = "certain"
  cause = "It does harm."
  remedy = "Undo it."
)toml";

const LogRules& rules() {
  static const LogRules read = [] {
    LogRules some;
    read_log_rules(some_rules, "some.toml", some);
    return some;
  }();
  return read;
}

using Machine = std::optional<MachineVerdicts>;

Finding of(std::string id, Finding finding) {
  finding.id = std::move(id);
  return finding;
}

std::vector<Finding> judged(const std::string& text, const Machine& machine = std::nullopt) {
  REQUIRE(rules().problems.empty());
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  std::uint64_t number = 0;
  for (const std::string_view line : lines(text)) matcher.look_at({++number, line});
  return judge(matcher.messages(), rules(), "b.log", machine);
}

}  // namespace

TEST_CASE("judge: without a machine the first candidate is open, with what would decide") {
  const auto found = judged("a\nkfd refused\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "device.kfd-access");
  CHECK(found[0].title == find_check("device.kfd-access")->title);
  CHECK(found[0].topic == Topic::device);
  CHECK(found[0].status == Status::fail);
  CHECK(found[0].observed == "KFD was refused.");
  CHECK(found[0].cause == "No right. Not confirmed: no machine was looked at.");
  CHECK(found[0].confidence == Confidence::likely);
  CHECK(found[0].ask == "ls -l /dev/kfd");
  CHECK(found[0].verify == "test");
  REQUIRE(found[0].evidence.size() == 1);
  CHECK(found[0].evidence[0].source == "b.log:2");
  CHECK(found[0].evidence[0].value == "kfd refused");
}

TEST_CASE("judge: a check that fails confirms, and its own words are shown with the log's lines before them") {
  Finding failed = of("device.kfd-access", fail("not in group 109"));
  failed.evidence = {{"/dev/kfd", "EACCES"}};
  failed.cause = "Its own cause.";
  failed.remedies = {{"Its own remedy.", {}, {}}};
  const auto found = judged("kfd refused\n", MachineVerdicts{{failed}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].status == Status::fail);
  CHECK(found[0].observed == "KFD was refused. This machine confirms it: not in group 109");
  CHECK(found[0].cause == "Its own cause.");
  CHECK(found[0].confidence == Confidence::certain);
  CHECK(found[0].ask.empty());
  REQUIRE(found[0].evidence.size() == 2);
  CHECK(found[0].evidence[0].source == "b.log:1");
  CHECK(found[0].evidence[1].source == "/dev/kfd");
}

TEST_CASE("judge: what a check warns of has happened when a log shows the failure; of harmless lines it has not") {
  CHECK(judged("kfd refused\n", MachineVerdicts{{of("device.kfd-access", warn("perhaps"))}})[0].status == Status::fail);
  CHECK(judged("kfd refused\n", MachineVerdicts{{of("device.kfd-access", warn("perhaps"))}})[0].confidence == Confidence::likely);
  CHECK(judged("odd line\n", MachineVerdicts{})[0].status == Status::info);
}

TEST_CASE("judge: a check that fails comes before one that warns, whatever the order of the candidates") {
  const auto found = judged("no gpu for torch\n", MachineVerdicts{{of("python.torch-flavour", warn("odd")), of("device.kfd-access", fail("no"))}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "device.kfd-access");
  CHECK(judged("no gpu for torch\n", MachineVerdicts{{of("python.torch-flavour", warn("odd"))}})[0].id == "python.torch-flavour");
}

TEST_CASE("judge: a check that passes excludes its candidate, and the next one is taken") {
  const Machine machine = MachineVerdicts{{of("python.torch-flavour", pass("torch is for ROCm")), of("device.kfd-access", fail("no"))}};
  const auto found = judged("no gpu for torch\n", machine);
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "device.kfd-access");
  CHECK(found[0].observed == "torch found no GPU. This machine confirms it: no");
  REQUIRE(found[0].evidence.size() == 2);
  CHECK(found[0].evidence[1].source == "excluded here");
  CHECK(found[0].evidence[1].value == "python.torch-flavour");
}

TEST_CASE("judge: a skipped check leaves its candidate open and says why; one that does not apply excludes it") {
  const Machine unknown = MachineVerdicts{{of("device.kfd-access", make_finding(Status::skip, "waits for gpu.present"))}};
  CHECK(judged("kfd refused\n", unknown)[0].cause == "No right. Not confirmed: waits for gpu.present.");
  const Machine elsewhere = MachineVerdicts{{of("device.kfd-access", not_applicable("this is WSL2"))}};
  const Finding excluded = judged("kfd refused\n", elsewhere)[0];
  CHECK(excluded.status == Status::warn);
  CHECK(excluded.evidence[1].value == "does not apply: this is WSL2");
  const Machine other = MachineVerdicts{{of("python.torch-flavour", not_applicable("no")), of("device.kfd-access", fail("no"))}};
  CHECK(judged("no gpu for torch\n", other)[0].evidence.size() == 1);
  const Machine broken = MachineVerdicts{{of("device.kfd-access", make_finding(Status::error, "broke"))}};
  CHECK(judged("kfd refused\n", broken)[0].status == Status::fail);
  CHECK(contains(judged("kfd refused\n", MachineVerdicts{})[0].cause, "Not confirmed"));
}

TEST_CASE("judge: a check that waits for a failed one makes that the reason, after checks that fail themselves") {
  Finding waits = of("device.kfd-access", make_finding(Status::skip, "waits for driver.module-loaded"));
  waits.blocked_by = "driver.module-loaded";
  const Finding root = of("driver.module-loaded", fail("amdgpu is not loaded"));
  const auto found = judged("kfd refused\n", MachineVerdicts{{root, waits}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "driver.module-loaded");
  CHECK(found[0].observed == "KFD was refused. This machine shows why: amdgpu is not loaded");
  const Finding flavour = of("python.torch-flavour", warn("odd"));
  CHECK(judged("no gpu for torch\n", MachineVerdicts{{root, waits, flavour}})[0].id == "driver.module-loaded");
  CHECK(judged("no gpu for torch\n", MachineVerdicts{{root, waits, of("python.torch-flavour", fail("cuda"))}})[0].id == "python.torch-flavour");
}

TEST_CASE("judge: all excluded is a warning, never a failure") {
  const auto found = judged("kfd refused\n", MachineVerdicts{{of("device.kfd-access", pass("open"))}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].status == Status::warn);
  CHECK(contains(found[0].observed, "does not show it now"));
  REQUIRE(found[0].evidence.size() == 2);
  CHECK(found[0].evidence[1].source == "excluded here, device.kfd-access");
  CHECK(found[0].evidence[1].value == "open");
  CHECK(found[0].remedies.empty());
}

TEST_CASE("judge: a message with many causes follows one that another line has settled") {
  const auto found = judged("no gpu for torch\nkfd refused\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "device.kfd-access");
  REQUIRE(found[0].evidence.size() == 2);
  const auto open = judged("no gpu for torch\n");
  CHECK(open[0].id == "python.torch-flavour");
  CHECK(open[0].cause == "Wrong wheel. Not confirmed: no machine was looked at. It can also be device.kfd-access.");
}

TEST_CASE("judge: where the log names one of the subjects it is about that one") {
  Finding first = of("python.torch-flavour", fail("cpu", "/a/venv"));
  Finding second = of("python.torch-flavour", fail("cpu", "/b/venv"));
  CHECK(judged("no gpu for torch\n", MachineVerdicts{{first, second}}).size() == 2);
  const auto found = judged("/b/venv/lib: no gpu for torch\n", MachineVerdicts{{first, second}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].subject == "/b/venv");
}

TEST_CASE("judge: consequences only where no reason was found; harmless lines are none") {
  CHECK(judged("kfd refused\nbuild stopped\n").size() == 1);
  const auto found = judged("odd line\nbuild stopped\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == "log.else");
  CHECK(found[0].status == Status::info);
  CHECK(found[0].topic == Topic::log);
  CHECK(found[0].title == "something else");
  CHECK(found[1].id == "log.stopped");
}

TEST_CASE("judge: advice is told last and explains nothing") {
  const auto first = judged("chmod 666\nkfd refused\n");
  REQUIRE(first.size() == 2);
  CHECK(first[0].id == "device.kfd-access");
  CHECK(first[1].id == "log.else");
  const auto alone = judged("chmod 666\nbuild stopped\n");
  REQUIRE(alone.size() == 2);
  CHECK(alone[0].id == "log.stopped");
  CHECK(alone[1].id == "log.else");
}

TEST_CASE("judge: many lines are counted, and few are shown") {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "kfd refused " + std::string(1, static_cast<char>('a' + i)) + "\n";
  const auto found = judged(text);
  REQUIRE(found[0].evidence.size() == LogMatcher::most_lines + 1);
  CHECK(found[0].evidence.back().source == "b.log");
  CHECK(found[0].evidence.back().value == "15 more lines of this kind, up to line 20");
}

TEST_CASE("judge: the same line again is counted, and shown once") {
  const auto found = judged("10:00:01 kfd refused\n10:00:02 kfd refused\n10:00:03 kfd refused\n");
  REQUIRE(found[0].evidence.size() == 2);
  CHECK(found[0].evidence[1].value == "2 more lines of this kind, up to line 3");
}

TEST_CASE("judge: only the checks that candidates name are wanted") {
  RuleExpressions expressions(rules());
  LogMatcher matcher(rules(), expressions);
  matcher.look_at({1, "no gpu for x, odd line"});
  const auto checks = checks_for(matcher.messages());
  REQUIRE(checks.size() == 2);
  CHECK(checks[0]->id == "python.torch-flavour");
}

}  // namespace sage
