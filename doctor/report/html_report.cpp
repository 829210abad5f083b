#include "doctor/report/html_report.hpp"

#include <map>
#include <string_view>
#include <vector>

#include "doctor/report/escape.hpp"
#include "doctor/report/log_text.hpp"
#include "doctor/report/outline.hpp"
#include "probes/base/embedded.hpp"
#include "probes/base/text.hpp"
#include "probes/base/text_template.hpp"

namespace sage {
namespace {

constexpr std::size_t unknown_width = 100;

using Words = std::map<std::string, std::string>;

class Writer {
 public:
  Writer(const Report& report, const ReportStyle& style)
      : report_(report), style_(style), parts_(embedded_report_templates().front().text) {}

  [[nodiscard]] std::string run() const {
    const Verdict verdict = verdict_of(report_);
    const std::string source = report_.source == "live" || report_.source == "none" ? "" : ", capture " + report_.source;
    return parts_.fill("page", {{"TITLE", xml_text("sage-doctor: " + verdict.found + source)},
                                {"VERSION", xml_text(report_.tool_version)},
                                {"SOURCE", xml_text(source)},
                                {"WORST", std::string(enum_name(verdict.worst))},
                                {"FOUND", xml_text(verdict.found)},
                                {"CHECKED", xml_text(verdict.checked)},
                                {"TIME", xml_text(report_.time)},
                                {"MACHINE", machine()},
                                {"PROBLEMS", problems()},
                                {"UNKNOWN", unknown()},
                                {"ORDER", style_.only_problems ? "" : in_order(verdict)},
                                {"SKIPPED", style_.only_problems ? "" : skipped()},
                                {"NOTE", parts_.fill(style_.redacted ? "redacted" : "not-redacted", {})}});
  }

 private:
  [[nodiscard]] std::string machine() const {
    std::string rows;
    for (const auto& [label, text] : machine_rows(report_)) {
      rows += parts_.fill("machine", {{"LABEL", xml_text(label)}, {"TEXT", xml_text(text)}});
    }
    return rows;
  }

  [[nodiscard]] std::string problems() const {
    std::string all;
    for (const Status status : {Status::fail, Status::error, Status::warn}) {
      for (const FindingGroup& group : problems_of(report_, status)) all += problem(group);
    }
    return all.empty() ? "" : parts_.fill("problems", {{"PROBLEMS", all}});
  }

  /// Of a log: what no rule knows.
  [[nodiscard]] std::string unknown() const {
    const std::string said = report_.log ? unknown_part_text(*report_.log, unknown_width) : "";
    std::vector<std::string> rows;
    for (const std::string_view line : lines(trim(said))) rows.emplace_back(line);
    return commands("unknown", rows);
  }

  [[nodiscard]] std::string problem(const FindingGroup& group) const {
    const Finding& finding = *group.front();
    std::string remedies;
    for (const Remedy& remedy : finding.remedies) {
      remedies += parts_.fill("remedy", {{"LABEL", xml_text(remedy_label(finding, remedy))},
                                         {"TEXT", xml_text(remedy.text)},
                                         {"COMMANDS", commands("commands", remedy.commands)}});
    }
    const std::vector<std::string> asks(finding.ask.empty() ? 0 : 1, finding.ask);
    const std::vector<std::string> checks(finding.verify.empty() ? 0 : 1, finding.verify);
    return parts_.fill("problem", {{"STATUS", std::string(enum_name(finding.status))},
                                   {"LABEL", std::string(label_of(finding.status))},
                                   {"ID", xml_text(finding.id)},
                                   {"SUBJECT", xml_text(finding.subject)},
                                   {"OBSERVED", xml_text(finding.observed)},
                                   {"OTHERS", others(group)},
                                   {"EVIDENCE", evidence(finding)},
                                   {"CAUSE", cause(finding)},
                                   {"REMEDIES", remedies},
                                   {"ASK", commands("ask", asks)},
                                   {"VERIFY", commands("verify", checks)}});
  }

  [[nodiscard]] std::string others(const FindingGroup& group) const {
    std::vector<std::string> subjects;
    for (const Finding* other : group) {
      if (other != group.front()) subjects.push_back(other->subject);
    }
    return subjects.empty() ? "" : parts_.fill("others", {{"SUBJECTS", xml_text(join(subjects, ", "))}});
  }

  [[nodiscard]] std::string evidence(const Finding& finding) const {
    std::string rows;
    for (const Evidence& row : finding.evidence) {
      rows += parts_.fill("seen", {{"SOURCE", xml_text(row.source)}, {"VALUE", xml_text(row.value)}});
    }
    return rows.empty() ? "" : parts_.fill("evidence", {{"ROWS", rows}});
  }

  [[nodiscard]] std::string cause(const Finding& finding) const {
    if (finding.cause.empty()) return "";
    return parts_.fill(
        "cause", {{"CONFIDENCE", std::string(enum_name(finding.confidence))}, {"CAUSE", xml_text(finding.cause)}});
  }

  [[nodiscard]] std::string commands(std::string_view section, const std::vector<std::string>& lines) const {
    if (lines.empty()) return "";
    std::vector<std::string> safe;
    for (const std::string& line : lines) safe.push_back(xml_text(line));
    return parts_.fill(section, {{"LINES", join(safe, "\n")}});
  }

  [[nodiscard]] std::string row(const Finding& finding) const {
    return parts_.fill("row", {{"STATUS", std::string(enum_name(finding.status))},
                               {"LABEL", std::string(label_of(finding.status))},
                               {"TEXT", xml_text(row_text(finding))},
                               {"ID", xml_text(finding.id)}});
  }

  template <class Wanted>
  [[nodiscard]] std::string details(std::string_view title, bool open, const Wanted& wanted) const {
    std::string topics;
    std::size_t count = 0;
    for (const auto& [topic, name] : enum_names<Topic>) {
      std::string rows;
      for (const Finding& finding : report_.findings) {
        if (finding.topic != topic || !wanted(finding)) continue;
        rows += row(finding);
        ++count;
      }
      if (!rows.empty()) topics += parts_.fill("topic", {{"TOPIC", std::string(name)}, {"ROWS", rows}});
    }
    if (count == 0) return "";
    return parts_.fill("details", {{"OPEN", open ? " open" : ""},
                                   {"TITLE", std::string(title)},
                                   {"COUNT", std::to_string(count)},
                                   {"TOPICS", topics}});
  }

  [[nodiscard]] std::string in_order(const Verdict& verdict) const {
    return details("In order, or only told", verdict.worst == Status::pass, [](const Finding& finding) {
      return finding.suppressed || finding.status == Status::pass || finding.status == Status::info;
    });
  }

  [[nodiscard]] std::string skipped() const {
    return details("Skipped", style_.skipped,
                   [](const Finding& finding) { return finding.status == Status::skip && !finding.suppressed; });
  }

  const Report& report_;
  const ReportStyle& style_;
  const TextTemplate parts_;
};

}  // namespace

std::string html_report(const Report& report, const ReportStyle& style) {
  return Writer(report, style).run();
}

}  // namespace sage
