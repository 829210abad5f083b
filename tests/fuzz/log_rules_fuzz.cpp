#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/report/json_report.hpp"
#include "doctor/report/text_report.hpp"

// A log against the rules of the binary, up to the report.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sage::LogRules rules = sage::embedded_rules_for_logs();
  static sage::RuleExpressions expressions(rules);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  sage::LogReader reader([&](char* into, std::size_t room) -> sage::Result<std::size_t> {
    const std::size_t count = std::min(room, rest.size());
    std::memcpy(into, rest.data(), count);
    rest.remove_prefix(count);
    return count;
  });
  sage::LogMatcher matcher(rules, expressions);
  sage::LogLine line;
  while (reader.next(line)) matcher.look_at(line);
  sage::LogReading reading;
  reading.lines = reader.lines();
  reading.bytes = reader.bytes();
  reading.encoding = reader.encoding();
  reading.messages = matcher.messages();
  reading.unknown = matcher.suspects().all();
  reading.unknown_suspect = !matcher.suspects().only_plain();
  sage::Diagnosis found = sage::diagnose(reading, rules, "log", std::nullopt);
  sage::Report report;
  report.tool_version = "0.0.0";
  report.source = "none";
  report.findings = std::move(found.findings);
  report.log = std::move(found.summary);
  report.summary = sage::summarize(report.findings);
  const std::string text = sage::text_report(report, {});
  if (text.find_first_of("\x1b\r\b\x7f") != std::string::npos) std::abort();
  if (sage::json_report(report, {}).empty()) std::abort();
  return 0;
}
