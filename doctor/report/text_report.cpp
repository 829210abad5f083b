#include "doctor/report/text_report.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "doctor/report/log_text.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t narrowest = 20;

struct StatusLook {
  Status status;
  std::string_view label;
  std::string_view colour;
};

constexpr std::array looks = {
    StatusLook{Status::fail, "FAIL", "\033[1;31m"},  StatusLook{Status::error, "ERROR", "\033[1;35m"},
    StatusLook{Status::warn, "WARN", "\033[1;33m"},  StatusLook{Status::info, "info", "\033[36m"},
    StatusLook{Status::pass, "ok", "\033[32m"},      StatusLook{Status::skip, "skip", "\033[2m"},
};

constexpr std::string_view bold = "\033[1m";
constexpr std::string_view plain = "\033[0m";

struct NeedText {
  Need need;
  std::string_view text;
};

constexpr std::array need_texts = {
    NeedText{Need::sudo, "administrator rights"},
    NeedText{Need::new_login, "a new login afterwards"},
    NeedText{Need::reboot, "a reboot afterwards"},
    NeedText{Need::windows, "the Windows side (PowerShell)"},
    NeedText{Need::wsl_restart, "'wsl --shutdown' in Windows afterwards"},
    NeedText{Need::container_restart, "the container to be started anew"},
};

struct KindText {
  PlatformKind kind;
  std::string_view text;
};

constexpr std::array kind_texts = {
    KindText{PlatformKind::bare_metal, "no virtual machine"},
    KindText{PlatformKind::virtual_machine, "virtual machine"},
    KindText{PlatformKind::wsl1, "WSL1"},
    KindText{PlatformKind::wsl2, "WSL2"},
    KindText{PlatformKind::gpu_pv_guest, "Hyper-V guest with GPU-PV"},
};

// Findings of one check that have the same cause and remedy and differ in their subject alone: eight GPUs and one
// missing group are one thing to read and one thing to do.
using Group = std::vector<const Finding*>;

bool same_but_for_subject(const Finding& a, const Finding& b) {
  return a.id == b.id && a.status == b.status && a.cause == b.cause && a.confidence == b.confidence &&
         a.remedies == b.remedies;
}

class Writer {
 public:
  Writer(const Report& report, const ReportStyle& style)
      : report_(report), style_(style), width_(std::max(style.width, narrowest)) {}

  std::string run() {
    header();
    std::vector<std::size_t> shown;
    for (const Status status : {Status::fail, Status::error, Status::warn}) {
      const std::vector<Group> groups = problems(status);
      for (const Group& group : groups) problem(group);
      shown.push_back(groups.size());
    }
    if (!style_.only_problems) in_order();
    if (report_.log) out_ += unknown_part_text(*report_.log, width_);
    last_line(shown[0], shown[1], shown[2]);
    return std::move(out_);
  }

 private:
  [[nodiscard]] const StatusLook& look(Status status) const {
    return *std::find_if(looks.begin(), looks.end(), [&](const StatusLook& l) { return l.status == status; });
  }

  [[nodiscard]] std::string painted(std::string_view text, std::string_view colour) const {
    if (!style_.colour) return std::string(text);
    return std::string(colour) + std::string(text) + std::string(plain);
  }

  void paragraph(std::string_view text, std::string_view first, std::string_view rest) {
    out_ += wrapped(printable(text), first, rest, width_);
  }

  void header() {
    const Platform& platform = report_.facts.platform;
    std::vector<std::string> parts;
    parts.push_back("sage-doctor " + report_.tool_version);
    if (report_.log) parts.push_back("log " + report_.log->name);
    if (report_.log && !report_.log->machine) {
      parts.emplace_back("no machine looked at");
      paragraph(join(parts, ", "), "", "  ");
      out_ += '\n';
      return;
    }
    if (report_.source != "live") parts.push_back("capture " + report_.source);
    parts.push_back(platform.distribution.pretty_name.value_or("unknown distribution"));
    parts.push_back("Linux " + platform.kernel_release.value_or("unknown"));
    if (platform.kind.known()) {
      std::string kind;
      for (const KindText& row : kind_texts) {
        if (row.kind == *platform.kind) kind = row.text;
      }
      if (platform.kind.is(PlatformKind::virtual_machine) && !platform.hypervisor.value_or("").empty()) {
        kind += " (" + *platform.hypervisor + ")";
      }
      parts.push_back(kind);
    }
    if (platform.container.known() && *platform.container != ContainerKind::none) {
      parts.push_back(std::string(enum_name(*platform.container)) + " container");
    }
    if (platform.under_sudo.is(true)) parts.push_back("under sudo");
    paragraph(join(parts, ", "), "", "  ");
    out_ += '\n';
  }

  [[nodiscard]] std::vector<Group> problems(Status status) const {
    std::vector<Group> groups;
    for (const Finding& finding : report_.findings) {
      if (finding.status != status || finding.suppressed) continue;
      const auto like = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
        return same_but_for_subject(*group.front(), finding);
      });
      if (like == groups.end()) {
        groups.push_back({&finding});
      } else {
        like->push_back(&finding);
      }
    }
    return groups;
  }

  void problem(const Group& group) {
    const Finding& finding = *group.front();
    const StatusLook& shown = look(finding.status);
    std::string head = std::string(finding.id);
    if (!finding.subject.empty()) head += "  " + printable(finding.subject);
    if (group.size() > 1) head += "  and " + std::to_string(group.size() - 1) + " more";
    out_ += painted(shown.label, shown.colour) + std::string(6 - std::min<std::size_t>(5, shown.label.size()), ' ') +
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
    if (!finding.cause.empty()) {
      const std::string label = "Cause (" + std::string(enum_name(finding.confidence)) + "): ";
      paragraph(label + finding.cause, indent, deeper);
    }
    for (const Remedy& remedy : finding.remedies) write_remedy(finding, remedy, indent, deeper);
    if (!finding.ask.empty()) command("Decide it: ", finding.ask, indent);
    if (!finding.verify.empty()) command("Check it: ", finding.verify, indent);
    command("More: ", "sage-doctor explain " + finding.id, indent);
    out_ += '\n';
  }

  void write_remedy(const Finding& finding, const Remedy& remedy, std::string_view indent, const std::string& deeper) {
    const bool first = &remedy == &finding.remedies.front();
    std::string label = first ? "Remedy" : "Or";
    if (!remedy.needs.empty()) {
      std::vector<std::string> needs;
      for (const Need need : remedy.needs) {
        for (const NeedText& row : need_texts) {
          if (row.need == need) needs.emplace_back(row.text);
        }
      }
      label += " (needs " + join(needs, ", ") + ")";
    }
    paragraph(label + ": " + remedy.text, indent, deeper);
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
    const StatusLook& shown = look(finding.status);
    std::string text = finding.observed;
    if (!contains(text, finding.subject)) text = finding.subject + ": " + text;
    if (finding.suppressed) text = "[ignored: " + finding.suppressed_reason + "] " + text;
    if (finding.status == Status::skip) text = finding.id + ": " + text;
    // Colour codes take no columns, so the label is painted after wrapping.
    const std::string label = "  " + std::string(shown.label);
    const std::string gap(label.size() < 8 ? 8 - label.size() : 1, ' ');
    const std::string lines = wrapped(printable(text), label + gap, std::string(8, ' '), width_);
    out_ += "  " + painted(shown.label, shown.colour) + lines.substr(label.size());
  }

  void last_line(std::size_t failures, std::size_t errors, std::size_t warnings) {
    const Summary& summary = report_.summary;
    const auto count = [](std::size_t number, std::string_view one, std::string_view many) {
      return std::to_string(number) + " " + std::string(number == 1 ? one : many);
    };
    std::vector<std::string> found;
    if (failures > 0) found.push_back(count(failures, "problem", "problems"));
    if (errors > 0) found.push_back(count(errors, "check broke", "checks broke"));
    if (warnings > 0) found.push_back(count(warnings, "warning", "warnings"));
    std::string checked = std::to_string(summary.checks) + " checked, " + std::to_string(summary.checks_skipped) +
                          " skipped";
    if (report_.log) checked = extent_text(*report_.log);
    if (summary.suppressed > 0) checked += ", " + std::to_string(summary.suppressed) + " ignored";
    const bool unknown = report_.log && report_.log->nothing_known();
    const std::string verdict = unknown ? "Nothing known found" : found.empty() ? "No known problem" : join(found, ", ");
    const Status worst = failures > 0   ? Status::fail
                         : errors > 0   ? Status::error
                         : warnings > 0 ? Status::warn
                                        : Status::pass;
    const std::string lines = wrapped(verdict + " (" + checked + ")", "", "", width_);
    if (!style_.colour || !lines.starts_with(verdict)) {
      out_ += lines;
    } else {
      out_ += painted(verdict, look(worst).colour) + lines.substr(verdict.size());
    }
  }

  const Report& report_;
  const ReportStyle& style_;
  const std::size_t width_;
  std::string out_;
};

}  // namespace

std::string text_report(const Report& report, const ReportStyle& style) { return Writer(report, style).run(); }

}  // namespace sage
