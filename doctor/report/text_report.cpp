#include "doctor/report/text_report.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "doctor/report/log_text.hpp"
#include "doctor/report/outline.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t narrowest = 20;

struct StatusColour {
  Status status;
  std::string_view colour;
};
constexpr std::array colours = {
    StatusColour{Status::fail, "\033[1;31m"}, StatusColour{Status::error, "\033[1;35m"},
    StatusColour{Status::warn, "\033[1;33m"}, StatusColour{Status::info, "\033[36m"},
    StatusColour{Status::pass, "\033[32m"},   StatusColour{Status::skip, "\033[2m"},
};

constexpr std::string_view bold = "\033[1m";
constexpr std::string_view plain = "\033[0m";

class Writer {
 public:
  Writer(const Report& report, const ReportStyle& style)
      : report_(report), style_(style), width_(std::max(style.width, narrowest)) {}

  std::string run() {
    header();
    for (const Status status : {Status::fail, Status::error, Status::warn}) {
      for (const FindingGroup& group : problems_of(report_, status)) problem(group);
    }
    if (!style_.only_problems) in_order();
    if (report_.log) out_ += unknown_part_text(*report_.log, width_);
    last_line();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string painted(std::string_view text, std::string_view colour) const {
    if (!style_.colour) return std::string(text);
    return std::string(colour) + std::string(text) + std::string(plain);
  }

  [[nodiscard]] std::string painted(std::string_view text, Status status) const {
    const auto row =
        std::find_if(colours.begin(), colours.end(), [&](const StatusColour& c) { return c.status == status; });
    return painted(text, row->colour);
  }

  void paragraph(std::string_view text, std::string_view first, std::string_view rest) {
    out_ += wrapped(printable(text), first, rest, width_);
  }

  void header() {
    std::vector<std::string> parts;
    parts.push_back("sage-doctor " + report_.tool_version);
    if (report_.log) parts.push_back("log " + report_.log->name);
    if (report_.source != "live" && report_.source != "none") parts.push_back("capture " + report_.source);
    for (const std::string& word : machine_words(report_)) parts.push_back(word);
    paragraph(join(parts, ", "), "", "  ");
    out_ += '\n';
  }

  void problem(const FindingGroup& group) {
    const Finding& finding = *group.front();
    const std::string_view label = label_of(finding.status);
    std::string head = finding.id;
    if (!finding.subject.empty()) head += "  " + printable(finding.subject);
    if (group.size() > 1) head += "  and " + std::to_string(group.size() - 1) + " more";
    out_ += painted(label, finding.status) + std::string(6 - std::min<std::size_t>(5, label.size()), ' ') +
            painted(head, bold) + "\n";
    const std::string_view indent = width_ < 40 ? "  " : "      ";
    const std::string deeper = std::string(indent) + "  ";
    paragraph(finding.observed, indent, indent);
    if (group.size() > 1) {
      std::vector<std::string> others;
      for (const Finding* other : group) {
        if (other != group.front()) others.push_back(other->subject);
      }
      paragraph("The same holds for " + join(others, ", ") + ".", indent, deeper);
    }
    for (const Evidence& evidence : finding.evidence) {
      paragraph(evidence.source + ": " + evidence.value, std::string(indent) + "- ", deeper);
    }
    if (!finding.cause.empty()) paragraph(cause_label(finding) + ": " + finding.cause, indent, deeper);
    for (const Remedy& remedy : finding.remedies) write_remedy(finding, remedy, indent, deeper);
    if (!finding.ask.empty()) command("Decide it: ", finding.ask, indent);
    if (!finding.verify.empty()) command("Check it: ", finding.verify, indent);
    command("More: ", "sage-doctor explain " + finding.id, indent);
    out_ += '\n';
  }

  void write_remedy(const Finding& finding, const Remedy& remedy, std::string_view indent, const std::string& deeper) {
    paragraph(remedy_label(finding, remedy) + ": " + remedy.text, indent, deeper);
    for (const std::string& line : remedy.commands) out_ += deeper + "  " + painted(printable(line), bold) + "\n";
  }

  // Commands are never broken: a wrapped command does not survive being pasted.
  void command(std::string_view label, std::string_view text, std::string_view indent) {
    out_ += std::string(indent) + std::string(label) + printable(text) + "\n";
  }

  void in_order() {
    for (const auto& [topic, name] : enum_names<Topic>) {
      std::vector<const Finding*> rows;
      for (const Finding& finding : report_.findings) {
        if (finding.topic != topic || !listed(finding)) continue;
        rows.push_back(&finding);
      }
      if (rows.empty()) continue;
      out_ += painted(name, bold) + "\n";
      for (const Finding* finding : rows) row(*finding);
      out_ += '\n';
    }
  }

  [[nodiscard]] bool listed(const Finding& finding) const {
    if (finding.suppressed) return true;
    if (finding.status == Status::skip) return style_.skipped;
    return finding.status == Status::pass || finding.status == Status::info;
  }

  void row(const Finding& finding) {
    std::string text = row_text(finding);
    if (finding.status == Status::skip) text = finding.id + ": " + text;
    // Colour codes take no columns, so the label is painted after wrapping.
    const std::string label = "  " + std::string(label_of(finding.status));
    const std::string gap(label.size() < 8 ? 8 - label.size() : 1, ' ');
    const std::string lines = wrapped(printable(text), label + gap, std::string(8, ' '), width_);
    out_ += "  " + painted(label_of(finding.status), finding.status) + lines.substr(label.size());
  }

  void last_line() {
    const Verdict verdict = verdict_of(report_);
    const std::string lines = wrapped(verdict.found + " (" + verdict.checked + ")", "", "", width_);
    if (!style_.colour || !lines.starts_with(verdict.found)) {
      out_ += lines;
    } else {
      out_ += painted(verdict.found, verdict.worst) + lines.substr(verdict.found.size());
    }
  }

  const Report& report_;
  const ReportStyle& style_;
  const std::size_t width_;
  std::string out_;
};

}  // namespace

std::string text_report(const Report& report, const ReportStyle& style) {
  return Writer(report, style).run();
}

}  // namespace sage
