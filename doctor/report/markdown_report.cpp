#include "doctor/report/markdown_report.hpp"

#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"
#include "doctor/report/escape.hpp"
#include "doctor/report/log_text.hpp"
#include "doctor/report/outline.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

// GitHub takes 65,536 characters for an issue or comment. Bytes are at least as many as characters; the rest is for
// what the user writes above.
constexpr std::size_t longest_report = 60000;
// A text longer than this is a dump of a file; no one reads it in an issue.
constexpr std::size_t longest_text = 1500;
constexpr std::size_t unknown_width = 100;

std::string shortened(std::string_view text) {
  if (text.size() <= longest_text) return std::string(text);
  // A character that is cut in two becomes '?' where the text is made printable.
  return std::string(text.substr(0, longest_text)) + " ... (" + std::to_string(text.size() - longest_text) +
         " more bytes)";
}

std::string text(std::string_view said) {
  return markdown_text(shortened(said));
}
std::string code(std::string_view said) {
  return markdown_code(shortened(said));
}

class Writer {
 public:
  Writer(const Report& report, const ReportStyle& style) : report_(report), style_(style) {}

  std::string run() {
    const Verdict verdict = verdict_of(report_);
    out_ = "### sage-doctor " + text(report_.tool_version) + ": " + verdict.found + " (" + verdict.checked + ")\n\n";
    const std::vector<FindingGroup> problems = all_problems();
    table(problems);
    machine();
    for (const FindingGroup& group : problems) add(problem(group));
    if (report_.log) add(unknown());
    if (!style_.only_problems) {
      details("In order, or only told", in_order(), false);
      details("Skipped", skipped(), style_.skipped);
    }
    closing();
    return std::move(out_);
  }

 private:
  // Whole or not at all.
  void add(const std::string& part) {
    if (out_.size() + part.size() > longest_report) {
      ++left_out_;
    } else {
      out_ += part;
    }
  }

  void machine() {
    add("| Machine | |\n|---|---|\n");
    if (report_.source != "live" && report_.source != "none") add("| Capture | " + text(report_.source) + " |\n");
    for (const auto& [label, said] : machine_rows(report_)) add("| " + label + " | " + text(said) + " |\n");
    add("| Time | " + text(report_.time) + " |\n");
    out_ += '\n';
  }

  [[nodiscard]] std::vector<FindingGroup> all_problems() const {
    std::vector<FindingGroup> all;
    for (const Status status : {Status::fail, Status::error, Status::warn}) {
      for (FindingGroup& group : problems_of(report_, status)) all.push_back(std::move(group));
    }
    return all;
  }

  void table(const std::vector<FindingGroup>& problems) {
    if (problems.empty()) return;
    add("| | Finding | What is the case |\n|---|---|---|\n");
    for (const FindingGroup& group : problems) {
      const Finding& finding = *group.front();
      const std::string more = group.size() > 1 ? " (and " + std::to_string(group.size() - 1) + " more like it)" : "";
      add("| **" + std::string(label_of(finding.status)) + "** | `" + finding.id + "` | " + text(row_text(finding)) +
          more + " |\n");
    }
    out_ += '\n';
  }

  [[nodiscard]] std::string problem(const FindingGroup& group) const {
    const Finding& finding = *group.front();
    std::string part = "#### " + std::string(label_of(finding.status)) + " `" + finding.id + "`";
    if (!finding.subject.empty()) part += " " + code(finding.subject);
    part += "\n\n" + text(finding.observed) + "\n\n";
    if (group.size() > 1) {
      std::vector<std::string> others;
      for (const Finding* other : group) {
        if (other != group.front()) others.push_back(other->subject);
      }
      part += "The same holds for " + text(join(others, ", ")) + ".\n\n";
    }
    for (const Evidence& row : finding.evidence) part += "* " + code(row.source) + ": " + code(row.value) + "\n";
    if (!finding.evidence.empty()) part += '\n';
    if (!finding.cause.empty()) part += "**" + cause_label(finding) + ":** " + text(finding.cause) + "\n\n";
    for (const Remedy& remedy : finding.remedies) {
      part += "**" + remedy_label(finding, remedy) + ":** " + text(remedy.text) + "\n\n";
      part += commands(remedy.commands, remedy.needs);
    }
    if (!finding.ask.empty()) part += "Decide it:\n\n" + commands({finding.ask}, {});
    if (!finding.verify.empty()) part += "Check it:\n\n" + commands({finding.verify}, {});
    return part;
  }

  /// Of a log: what no rule knows.
  [[nodiscard]] std::string unknown() const {
    const std::string said = unknown_part_text(*report_.log, unknown_width);
    std::vector<std::string> rows;
    for (const std::string_view line : lines(trim(said))) rows.emplace_back(line);
    return rows.empty() ? "" : markdown_block("", rows) + "\n";
  }

  [[nodiscard]] static std::string commands(const std::vector<std::string>& lines, const std::vector<Need>& needs) {
    if (lines.empty()) return "";
    bool windows = false;
    for (const Need need : needs) windows = windows || need == Need::windows;
    return markdown_block(windows ? "powershell" : "sh", lines) + "\n";
  }

  [[nodiscard]] std::vector<std::string> in_order() const {
    std::vector<std::string> rows;
    for (const auto& [topic, name] : enum_names<Topic>) {
      for (const Finding& finding : report_.findings) {
        const bool listed = finding.suppressed || finding.status == Status::pass || finding.status == Status::info;
        if (finding.topic != topic || !listed) continue;
        rows.push_back("* " + std::string(label_of(finding.status)) + " `" + finding.id + "` " +
                       text(row_text(finding)) + "\n");
      }
    }
    return rows;
  }

  [[nodiscard]] std::vector<std::string> skipped() const {
    std::vector<std::string> rows;
    for (const Finding& finding : report_.findings) {
      if (finding.status != Status::skip || finding.suppressed) continue;
      rows.push_back("* `" + finding.id + "` " + text(row_text(finding)) + "\n");
    }
    return rows;
  }

  void details(std::string_view title, const std::vector<std::string>& rows, bool open) {
    if (rows.empty()) return;
    const std::string head = std::string(open ? "<details open>" : "<details>") + "<summary>" + std::string(title) +
                             ": " + std::to_string(rows.size()) + "</summary>\n\n";
    constexpr std::string_view end = "\n</details>\n\n";
    if (out_.size() + head.size() + end.size() > longest_report) {
      left_out_ += rows.size();
      return;
    }
    out_ += head;
    for (const std::string& row : rows) {
      if (out_.size() + row.size() + end.size() > longest_report) {
        ++left_out_;
      } else {
        out_ += row;
      }
    }
    out_ += end;
  }

  void closing() {
    if (left_out_ > 0) {
      out_ += "**" + std::to_string(left_out_) +
              " parts are left out**, since GitHub takes no longer text; `--format json` " + "has all.\n\n";
    }
    if (style_.redacted) {
      out_ += "Names, addresses and serial numbers are replaced (user1, host1); in commands, too.\n";
    } else {
      out_ += "**Not redacted:** names, addresses and serial numbers are those of the machine.\n";
    }
  }

  const Report& report_;
  const ReportStyle& style_;
  std::size_t left_out_ = 0;
  std::string out_;
};

}  // namespace

std::string markdown_report(const Report& report, const ReportStyle& style) {
  return Writer(report, style).run();
}

}  // namespace sage
