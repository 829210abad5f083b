#include "doctor/report/json_report.hpp"

#include <nlohmann/json.hpp>

#include "probes/facts/facts_json.hpp"

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

Json finding_to_json(const Finding& finding) {
  Json evidence = Json::array();
  for (const Evidence& row : finding.evidence) evidence.push_back({{"source", row.source}, {"value", row.value}});

  Json remedies = Json::array();
  for (const Remedy& remedy : finding.remedies) {
    Json needs = Json::array();
    for (const Need need : remedy.needs) needs.push_back(enum_name(need));
    remedies.push_back({{"text", remedy.text}, {"commands", remedy.commands}, {"needs", needs}});
  }

  const bool has_cause = !finding.cause.empty();
  Json json = {
      {"id", finding.id},
      {"subject", finding.subject},
      {"title", finding.title},
      {"topic", enum_name(finding.topic)},
      {"status", enum_name(finding.status)},
      {"suppressed", finding.suppressed},
      {"suppressed_reason", finding.suppressed_reason},
      {"observed", finding.observed},
      {"evidence", evidence},
      {"cause", finding.cause},
      {"confidence", has_cause ? Json(enum_name(finding.confidence)) : Json(nullptr)},
      {"remedy", remedies},
      {"verify", finding.verify},
      {"docs", "docs/findings/" + finding.id + ".md"},
      {"blocked_by", finding.blocked_by.empty() ? Json(nullptr) : Json(finding.blocked_by)},
  };
  if (!finding.ask.empty()) json["ask"] = finding.ask;
  return json;
}

Json log_to_json(const LogSummary& log) {
  Json matched = Json::array();
  for (const LogRuleMatch& row : log.matched) {
    matched.push_back({{"rule", row.rule}, {"lines", row.lines}, {"first_line", row.first}});
  }
  Json unknown = Json::array();
  for (const UnknownLogLine& row : log.unknown) unknown.push_back({{"line", row.line}, {"text", row.text}});
  Json guesses = Json::array();
  for (const LogGuess& guess : log.guesses) {
    guesses.push_back({{"rule", guess.rule},
                       {"finding", guess.finding},
                       {"example", guess.example},
                       {"line", guess.line},
                       {"text", guess.text},
                       {"shared_words", guess.shared}});
  }
  return {{"name", log.name},         {"lines", log.lines},     {"bytes", log.bytes},     {"encoding", log.encoding},
          {"rules", log.rules},       {"machine", log.machine}, {"matched", matched},     {"unknown_lines", unknown},
          {"guesses", guesses}};
}

}  // namespace

std::string json_report(const Report& report, const ReportStyle&) {
  const Summary& summary = report.summary;
  Json facts = facts_to_json(report.facts);
  facts["facts_version"] = facts_version;
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(finding_to_json(finding));

  Json json = {
      {"schema_version", report_schema_version},
      {"tool", {{"name", "sage-doctor"}, {"version", report.tool_version}, {"time", report.time},
                {"source", report.source}}},
      {"facts", facts},
      {"findings", findings},
      {"summary",
       {{"pass", summary.pass},
        {"warn", summary.warn},
        {"fail", summary.fail},
        {"skip", summary.skip},
        {"error", summary.error},
        {"info", summary.info},
        {"suppressed", summary.suppressed}}},
  };
  if (report.log) json["log"] = log_to_json(*report.log);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sage
