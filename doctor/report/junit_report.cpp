#include "doctor/report/junit_report.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "doctor/report/escape.hpp"
#include "doctor/report/outline.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

enum class Outcome { passed, failed, broke, skipped };

Outcome outcome_of(const Finding& finding, bool strict) {
  if (finding.suppressed) return Outcome::skipped;
  switch (finding.status) {
    case Status::fail:
      return Outcome::failed;
    case Status::warn:
      return strict ? Outcome::failed : Outcome::passed;
    case Status::error:
      return Outcome::broke;
    case Status::skip:
      return Outcome::skipped;
    case Status::pass:
    case Status::info:
      break;
  }
  return Outcome::passed;
}

struct Counts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
};

Counts counts_of(const std::vector<const Finding*>& findings, bool strict) {
  const auto number = [&](Outcome wanted) {
    return static_cast<std::size_t>(std::count_if(
        findings.begin(), findings.end(), [&](const Finding* one) { return outcome_of(*one, strict) == wanted; }));
  };
  return {findings.size(), number(Outcome::failed), number(Outcome::broke), number(Outcome::skipped)};
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml_text(value) + "\"";
}

std::string attribute(std::string_view name, std::size_t value) {
  return attribute(name, std::to_string(value));
}

std::string in_full(const Finding& finding) {
  std::string text = std::string(label_of(finding.status)) + " " + xml_text(row_text(finding)) + "\n";
  for (const std::string& line : explanation_of(finding)) {
    const std::string_view said = trim(line);
    text += std::string(line.size() - said.size(), ' ') + xml_text(said) + "\n";
  }
  return text;
}

std::string outcome(const Finding& finding, bool strict) {
  const auto element = [&](const std::string& name, const std::string& said) {
    return "      <" + name + attribute("type", enum_name(finding.status)) + attribute("message", said) + ">" +
           in_full(finding) + "</" + name + ">\n";
  };
  switch (outcome_of(finding, strict)) {
    case Outcome::failed:
      return element("failure", row_text(finding));
    case Outcome::broke:
      return element("error", row_text(finding));
    case Outcome::skipped:
      return "      <skipped" + attribute("message", row_text(finding)) + "/>\n";
    case Outcome::passed:
      break;
  }
  const bool warning = finding.status == Status::warn;
  return "      <system-out>" + (warning ? in_full(finding) : xml_text(row_text(finding))) + "</system-out>\n";
}

std::string test_case(const Finding& finding, bool strict) {
  const std::string title = finding.title.empty() ? finding.id : finding.title;
  const std::string name = finding.subject.empty() ? title : title + " (" + finding.subject + ")";
  return "    <testcase" + attribute("classname", finding.id) + attribute("name", name) + ">\n" +
         outcome(finding, strict) + "    </testcase>\n";
}

std::string property(std::string_view name, std::string_view value) {
  return "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
}

std::string suite(const Report& report, std::string_view topic, const std::vector<const Finding*>& findings,
                  bool strict) {
  const Counts counts = counts_of(findings, strict);
  // The format wants local time without a zone; "Z" is left away, as others do.
  const std::string time = report.time.ends_with('Z') ? report.time.substr(0, report.time.size() - 1) : report.time;
  std::string xml = "  <testsuite" + attribute("name", topic) + attribute("tests", counts.tests) +
                    attribute("failures", counts.failures) + attribute("errors", counts.errors) +
                    attribute("skipped", counts.skipped) + attribute("timestamp", time) + ">\n";
  xml += "    <properties>\n" + property("sage-doctor", report.tool_version) + property("source", report.source) +
         property("system", join(machine_words(report), ", ")) + "    </properties>\n";
  for (const Finding* finding : findings) xml += test_case(*finding, strict);
  return xml + "  </testsuite>\n";
}

}  // namespace

std::string junit_report(const Report& report, const ReportStyle& style) {
  std::vector<const Finding*> all;
  std::string suites;
  for (const auto& [topic, name] : enum_names<Topic>) {
    std::vector<const Finding*> of_topic;
    for (const Finding& finding : report.findings) {
      if (finding.topic == topic) of_topic.push_back(&finding);
    }
    if (of_topic.empty()) continue;
    all.insert(all.end(), of_topic.begin(), of_topic.end());
    suites += suite(report, name, of_topic, style.strict);
  }
  const Counts counts = counts_of(all, style.strict);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "sage-doctor") +
         attribute("tests", counts.tests) + attribute("failures", counts.failures) +
         attribute("errors", counts.errors) + ">\n" + suites + "</testsuites>\n";
}

}  // namespace sage
