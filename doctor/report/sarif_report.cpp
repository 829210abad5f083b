#include "doctor/report/sarif_report.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "doctor/checks/check.hpp"
#include "doctor/report/escape.hpp"
#include "doctor/report/evidence_place.hpp"
#include "doctor/report/finding_page.hpp"
#include "doctor/report/outline.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

struct Outcome {
  std::string_view kind;
  std::string_view level;
};

Outcome outcome_of(const Finding& finding) {
  switch (finding.status) {
    case Status::fail:
      return {"fail", "error"};
    case Status::warn:
      return {"fail", "warning"};
    case Status::pass:
      return {"pass", "none"};
    case Status::info:
      return {"informational", "none"};
    case Status::skip:
      return {does_not_apply(finding) ? "notApplicable" : "open", "none"};
    case Status::error:
      break;
  }
  return {"open", "none"};
}

Json message(const std::string& text) {
  return {{"text", text.empty() ? "-" : text}};
}

std::string whole_message(const Finding& finding) {
  std::string text = sarif_text(row_text(finding));
  const bool problem = finding.status == Status::fail || finding.status == Status::warn;
  if (!problem) return text;
  for (const std::string& line : explanation_of(finding)) text += "\n" + sarif_text(trim(line));
  return text;
}

Json rule(const Finding& finding) {
  const std::string_view page = finding_page(finding.id);
  Json rule = {{"id", finding.id},
               {"shortDescription", {{"text", finding.title.empty() ? finding.id : finding.title}}}};
  if (const std::string meaning = meaning_of(page); !meaning.empty()) rule["fullDescription"] = {{"text", meaning}};
  if (!page.empty()) rule["help"] = {{"text", page}, {"markdown", page}};
  rule["properties"] = {{"tags", {enum_name(finding.topic)}}};
  return rule;
}

Json location(const std::string& source, const std::string& said) {
  Json place = Json::object();
  if (const auto file = evidence_place(source)) {
    place["physicalLocation"]["artifactLocation"]["uri"] = file->uri;
    if (file->line) place["physicalLocation"]["region"]["startLine"] = *file->line;
  } else {
    place["logicalLocations"] = {{{"fullyQualifiedName", printable(source)}, {"kind", "resource"}}};
  }
  if (!said.empty()) place["message"] = message(sarif_text(said));
  return place;
}

// The first place that is a file, else the first, is where the finding is; the others only belong to it.
void add_locations(Json& result, const Finding& finding) {
  Json places = Json::array();
  std::size_t main = 0;
  bool main_is_file = false;
  const auto add = [&](const std::string& source, const std::string& said) {
    places.push_back(location(source, said));
    const bool file = places.back().contains("physicalLocation");
    if (file && !main_is_file) main = places.size() - 1;
    main_is_file = main_is_file || file;
  };
  for (const Evidence& row : finding.evidence) add(row.source, row.value);
  if (!finding.subject.empty()) add(finding.subject, "");
  if (places.empty()) return;
  result["locations"] = Json::array({places[main]});
  places.erase(main);
  if (!places.empty()) result["relatedLocations"] = places;
}

Json properties(const Finding& finding) {
  Json bag = {{"status", enum_name(finding.status)}, {"subject", printable(finding.subject)}};
  if (!finding.cause.empty()) {
    bag["cause"] = finding.cause;
    bag["confidence"] = enum_name(finding.confidence);
  }
  Json remedies = Json::array();
  for (const Remedy& remedy : finding.remedies) {
    Json needs = Json::array();
    for (const Need need : remedy.needs) needs.push_back(enum_name(need));
    remedies.push_back({{"text", remedy.text}, {"commands", remedy.commands}, {"needs", needs}});
  }
  if (!remedies.empty()) bag["remedy"] = remedies;
  if (!finding.ask.empty()) bag["ask"] = finding.ask;
  if (!finding.verify.empty()) bag["verify"] = finding.verify;
  if (!finding.blocked_by.empty()) bag["blockedBy"] = finding.blocked_by;
  return bag;
}

Json result(const Finding& finding, std::size_t rule_index) {
  const Outcome outcome = outcome_of(finding);
  Json json = {{"ruleId", finding.id},
               {"ruleIndex", rule_index},
               {"kind", outcome.kind},
               {"level", outcome.level},
               {"message", message(whole_message(finding))}};
  add_locations(json, finding);
  json["partialFingerprints"] = {{"checkAndSubject/v1", finding.id + " " + printable(finding.subject)}};
  // Once one result has this property, all need it (3.27.23).
  json["suppressions"] = Json::array();
  if (finding.suppressed) {
    json["suppressions"].push_back({{"kind", "external"}, {"justification", printable(finding.suppressed_reason)}});
  }
  json["properties"] = properties(finding);
  return json;
}

Json invocation(const Report& report, const ReportStyle& style) {
  Json notifications = Json::array();
  for (const Finding& finding : report.findings) {
    if (finding.status != Status::error) continue;
    notifications.push_back({{"level", "error"},
                             {"message", message(sarif_text(row_text(finding)))},
                             {"associatedRule", {{"id", finding.id}}}});
  }
  Json json = {{"executionSuccessful", notifications.empty()},
               {"exitCode", style.exit_status},
               {"exitCodeDescription", verdict_of(report).found},
               {"startTimeUtc", report.time}};
  if (!notifications.empty()) json["toolExecutionNotifications"] = notifications;
  return json;
}

bool shown(const Finding& finding, const ReportStyle& style) {
  const bool problem =
      finding.status == Status::fail || finding.status == Status::warn || finding.status == Status::error;
  return !style.only_problems || (problem && !finding.suppressed);
}

}  // namespace

std::string sarif_report(const Report& report, const ReportStyle& style) {
  Json rules = Json::array();
  Json results = Json::array();
  std::map<std::string, std::size_t> index;
  for (const Finding& finding : report.findings) {
    if (!shown(finding, style)) continue;
    const auto [at, is_new] = index.emplace(finding.id, rules.size());
    if (is_new) rules.push_back(rule(finding));
    results.push_back(result(finding, at->second));
  }
  Json machine = Json::object();
  machine["source"] = printable(report.source);
  machine["system"] = printable(join(machine_words(report), ", "));
  const Json log = {
      {"$schema", schema},
      {"version", "2.1.0"},
      {"runs",
       {{{"tool",
          {{"driver",
            {{"name", "sage-doctor"},
             {"version", report.tool_version},
             {"semanticVersion", report.tool_version},
             {"rules", rules}}}}},
         {"invocations", {invocation(report, style)}},
         {"columnKind", "unicodeCodePoints"},
         {"results", results},
         {"properties", machine}}}},
  };
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sage
