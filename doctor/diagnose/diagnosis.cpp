#include "doctor/diagnose/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "doctor/diagnose/guesses.hpp"

namespace sage {
namespace {

constexpr std::size_t most_unknown_lines = 5;

struct Compression {
  std::string_view begins_with;
  std::string_view name;
  std::string_view program;  ///< that prints the text
};

constexpr std::array compressions = {
    Compression{"\x1f\x8b", "gzip", "zcat"},
    Compression{"\x28\xb5\x2f\xfd", "zstd", "zstdcat"},
    Compression{"\xfd"
                "7zXZ",
                "xz", "xzcat"},
    Compression{"BZh", "bzip2", "bzcat"},
    Compression{"PK\x03\x04", "zip", "unzip -p"},
};

std::optional<Error> unreadable(const LogReader& reader) {
  if (reader.error()) return reader.error();
  if (reader.bytes() == 0)
    return Error{0, "the log is empty. Build tools write errors to stderr: catch both with  command > build.log 2>&1"};
  for (const Compression& row : compressions) {
    if (!reader.first_bytes().starts_with(row.begins_with)) continue;
    return Error{0, "the log is compressed with " + std::string(row.name) +
                        ". Unpack it on the way:  " + std::string(row.program) + " LOG | sage-doctor diagnose"};
  }
  return std::nullopt;
}

}  // namespace

Result<LogReading> read_log(LogSource source, const LogRules& rules) {
  LogReader reader(std::move(source));
  RuleExpressions expressions(rules);
  LogMatcher matcher(rules, expressions);
  LogLine line;
  bool first = true;
  while (reader.next(line)) {
    if (std::exchange(first, false) && unreadable(reader)) break;  // a compressed file may be long
    matcher.look_at(line);
  }
  if (const auto problem = unreadable(reader)) return *problem;

  LogReading reading;
  reading.lines = reader.lines();
  reading.bytes = reader.bytes();
  reading.encoding = reader.encoding();
  reading.messages = matcher.messages();
  reading.unknown = matcher.suspects().all();
  reading.unknown_suspect = !matcher.suspects().only_plain();
  return reading;
}

Diagnosis diagnose(const LogReading& reading, const LogRules& rules, const std::string& name,
                   const std::optional<MachineVerdicts>& machine) {
  Diagnosis diagnosis;
  diagnosis.findings = judge(reading.messages, rules, name, machine);

  LogSummary& summary = diagnosis.summary;
  summary.name = name;
  summary.lines = reading.lines;
  summary.bytes = reading.bytes;
  summary.encoding = enum_name(reading.encoding);
  summary.rules = rules.rules.size();
  summary.machine = machine.has_value();
  for (const LogMessage& message : reading.messages) {
    summary.matched.push_back({message.rule->name, message.count, message.first});
  }
  const bool explained = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                     [](const Finding& finding) { return finding.status == Status::fail; });
  if (explained) return diagnosis;
  if (reading.unknown_suspect) {
    for (const NumberedLine& line : reading.unknown) {
      if (summary.unknown.size() < most_unknown_lines) summary.unknown.push_back({line.number, line.text});
    }
  }
  // Beside a known message, lines that look like no failure want no guess.
  if (reading.unknown_suspect || diagnosis.findings.empty()) summary.guesses = guess(reading.unknown, rules);
  return diagnosis;
}

}  // namespace sage
