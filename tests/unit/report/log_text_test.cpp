#include "doctor/report/log_text.hpp"

#include <doctest/doctest.h>

#include "doctor/report/redacted_report.hpp"

namespace sage {
namespace {

LogSummary sample() {
  LogSummary log;
  log.name = "build.log";
  log.lines = 1234567;
  log.bytes = 3 << 20;
  log.encoding = "UTF-8";
  log.rules = 96;
  return log;
}

}  // namespace

TEST_CASE("log text: how much was read") {
  CHECK(extent_text(sample()) == "1,234,567 lines, 3.0 MiB, 96 rules");
  LogSummary little = sample();
  little.lines = little.rules = 1;
  little.encoding = "UTF-16LE";
  CHECK(extent_text(little) == "1 line, 3.0 MiB of UTF-16LE, 1 rule");
  little.lines = 999;
  CHECK(extent_text(little).starts_with("999 lines"));
  little.lines = 1000;
  CHECK(extent_text(little).starts_with("1,000 lines"));
}

TEST_CASE("log text: nothing known, with and without lines that look like a failure") {
  LogSummary log = sample();
  CHECK(unknown_part_text(log, 80) == "No rule knows what this log says, and no line looks like a failure.\n\n");
  log.unknown = {{7, "error: \x1b[1mx"}};
  log.guesses = {{"kfd", "device.kfd-access", "Unable to open", 7, "error: x", {"open", "kfd"}}};
  CHECK(unknown_part_text(log, 80) ==
        "No rule knows what this log says.\n"
        "Lines that look like a failure:\n"
        "  - build.log:7: error: ?[1mx\n"
        "\n"
        "Guesses, not a diagnosis: the known messages that come nearest.\n"
        "  ? device.kfd-access: Unable to open\n"
        "      line 7 shares: open, kfd\n"
        "      More: sage-doctor explain device.kfd-access\n"
        "\n");
}

TEST_CASE("log text: nothing is said where a failure was found") {
  LogSummary log = sample();
  log.matched = {{"kfd", 1, 1}};
  CHECK(unknown_part_text(log, 80).empty());
}

TEST_CASE("redaction covers what is kept of a log") {
  Report report;
  report.log = sample();
  report.log->name = "/home/jodoe.log";
  report.log->unknown = {{1, "error in /home/jodoe/x"}};
  report.log->guesses = {{"r", "f", "e", 1, "error in /home/jodoe/x", {"jodoe"}}};
  report.findings.emplace_back().ask = "ls /home/jodoe/y";
  const Report safe = redacted(report, Redaction({"jodoe", "desk", "/home/jodoe"}));
  CHECK(safe.log->name.find("jodoe") == std::string::npos);
  CHECK(safe.log->unknown[0].text == "error in /home/user1/x");
  CHECK(safe.log->guesses[0].text == "error in /home/user1/x");
  CHECK(safe.log->guesses[0].shared[0] == "user1");
  CHECK(safe.findings[0].ask == "ls /home/user1/y");
}

}  // namespace sage
