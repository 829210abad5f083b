#include "doctor/report/redacted_report.hpp"

#include <concepts>
#include <string>

#include "probes/base/template_kinds.hpp"
#include "probes/facts/json_walk.hpp"

namespace sage {
namespace {

using json_walk::Described;
using json_walk::IsFact;

template <class T, class Visit>
void visit_facts(T& value, const Visit& visit) {
  if constexpr (IsFact<T>::value) {
    if (value.known()) return visit_facts(value.value(), visit);
    Error why = value.why_unknown();
    visit(why.text);
    value = T::unknown(why);
  } else if constexpr (IsOptional<T>::value) {
    if (value) visit_facts(*value, visit);
  } else if constexpr (IsVector<T>::value) {
    for (auto& item : value) visit_facts(item, visit);
  } else if constexpr (Described<T>) {
    T::fields([&](const char*, auto member) { visit_facts(value.*member, visit); });
  } else if constexpr (std::same_as<T, std::string>) {
    visit(value);
  }
}

template <class Visit>
void visit_finding(Finding& finding, const Visit& visit) {
  visit(finding.subject);
  visit(finding.suppressed_reason);
  visit(finding.observed);
  for (Evidence& row : finding.evidence) {
    visit(row.source);
    visit(row.value);
  }
  visit(finding.cause);
  for (Remedy& remedy : finding.remedies) {
    visit(remedy.text);
    for (std::string& command : remedy.commands) visit(command);
  }
  visit(finding.verify);
  visit(finding.ask);
}

template <class Visit>
void visit_log(LogSummary& log, const Visit& visit) {
  visit(log.name);
  for (UnknownLogLine& line : log.unknown) visit(line.text);
  for (LogGuess& guess : log.guesses) {
    visit(guess.text);
    for (std::string& word : guess.shared) visit(word);
  }
}

template <class Visit>
void visit_report(Report& report, const Visit& visit) {
  visit_facts(report.facts, visit);
  for (Finding& finding : report.findings) visit_finding(finding, visit);
  visit(report.source);
  if (report.log) visit_log(*report.log, visit);
}

}  // namespace

Report redacted(Report report, Redaction redaction) {
  visit_report(report, [&](const std::string& text) { redaction.learn(text); });
  visit_report(report, [&](std::string& text) { text = redaction.apply(text); });
  return report;
}

}  // namespace sage
