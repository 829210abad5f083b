#include "doctor/report/outline.hpp"

#include <algorithm>
#include <array>

#include "doctor/checks/wording.hpp"
#include "doctor/report/log_text.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

struct StatusLabel {
  Status status;
  std::string_view label;
};
constexpr std::array labels = {
    StatusLabel{Status::fail, "FAIL"}, StatusLabel{Status::error, "ERROR"}, StatusLabel{Status::warn, "WARN"},
    StatusLabel{Status::info, "info"}, StatusLabel{Status::pass, "ok"},     StatusLabel{Status::skip, "skip"},
};

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

bool same_but_for_subject(const Finding& a, const Finding& b) {
  return a.id == b.id && a.status == b.status && a.cause == b.cause && a.confidence == b.confidence &&
         a.remedies == b.remedies;
}

std::string kind_words(const Platform& platform) {
  const auto row = std::find_if(kind_texts.begin(), kind_texts.end(),
                                [&](const KindText& text) { return platform.kind.is(text.kind); });
  std::string kind(row->text);
  if (platform.kind.is(PlatformKind::virtual_machine) && !platform.hypervisor.value_or("").empty()) {
    kind += " (" + *platform.hypervisor + ")";
  }
  return kind;
}

}  // namespace

std::vector<FindingGroup> problems_of(const Report& report, Status status) {
  std::vector<FindingGroup> groups;
  for (const Finding& finding : report.findings) {
    if (finding.status != status || finding.suppressed) continue;
    const auto like = std::find_if(groups.begin(), groups.end(), [&](const FindingGroup& group) {
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

std::string_view label_of(Status status) {
  return std::find_if(labels.begin(), labels.end(), [&](const StatusLabel& row) { return row.status == status; })
      ->label;
}

Verdict verdict_of(const Report& report) {
  const Summary& summary = report.summary;
  const std::size_t failures = problems_of(report, Status::fail).size();
  const std::size_t errors = problems_of(report, Status::error).size();
  const std::size_t warnings = problems_of(report, Status::warn).size();
  std::vector<std::string> found;
  if (failures > 0) found.push_back(counted(failures, "problem"));
  if (errors > 0) found.push_back(counted(errors, "check") + " broke");
  if (warnings > 0) found.push_back(counted(warnings, "warning"));
  Verdict verdict;
  verdict.found = found.empty() ? "No known problem" : join(found, ", ");
  if (report.log && report.log->nothing_known()) verdict.found = "Nothing known found";
  verdict.checked = report.log ? extent_text(*report.log) : std::to_string(summary.checks) + " checked, " + std::to_string(summary.checks_skipped) + " skipped";
  if (summary.suppressed > 0) verdict.checked += ", " + std::to_string(summary.suppressed) + " ignored";
  verdict.worst = failures > 0 ? Status::fail : errors > 0 ? Status::error : warnings > 0 ? Status::warn : Status::pass;
  return verdict;
}

std::vector<std::string> machine_words(const Report& report) {
  if (report.log && !report.log->machine) return {"no machine looked at"};
  const Platform& platform = report.facts.platform;
  std::vector<std::string> words;
  words.push_back(platform.distribution.pretty_name.value_or("unknown distribution"));
  words.push_back("Linux " + platform.kernel_release.value_or("unknown"));
  if (platform.kind.known()) words.push_back(kind_words(platform));
  if (platform.container.known() && *platform.container != ContainerKind::none) {
    words.push_back(std::string(enum_name(*platform.container)) + " container");
  }
  if (platform.under_sudo.is(true)) words.emplace_back("under sudo");
  return words;
}

std::vector<std::pair<std::string, std::string>> machine_rows(const Report& report) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (report.log) rows.emplace_back("Log", report.log->name + ": " + extent_text(*report.log));
  rows.emplace_back("System", join(machine_words(report), ", "));
  std::vector<std::pair<std::string, std::string>> gpus;
  for (const Gpu& gpu : report.facts.gpus.amd.value_or({})) {
    const std::string target = gpu.target.value_or("");
    std::string name = gpu.name.value_or("unknown chip");
    if (!target.empty() && !contains(name, target)) name += " (" + target + ")";
    const auto like = std::find_if(gpus.begin(), gpus.end(), [&](const auto& other) { return other.first == name; });
    if (like == gpus.end()) {
      gpus.emplace_back(name, gpu.id);
    } else {
      like->second += ", " + gpu.id;
    }
  }
  for (const auto& [name, ids] : gpus) rows.emplace_back("GPU", name + ": " + ids);

  for (const RocmRoot& root : report.facts.rocm.roots.value_or({})) {
    rows.emplace_back("ROCm", root.version.value_or("version unknown") + " in " + root.path);
  }
  for (const PythonEnvironment& environment : report.facts.python.environments.value_or({})) {
    for (const TorchInstall& torch : environment.torch.value_or({})) {
      rows.emplace_back("PyTorch", torch.version.value_or("version unknown") + " in " + environment.prefix);
    }
  }
  return rows;
}

std::string cause_label(const Finding& finding) {
  return "Cause (" + std::string(enum_name(finding.confidence)) + ")";
}

std::string remedy_label(const Finding& finding, const Remedy& remedy) {
  const std::string label = &remedy == &finding.remedies.front() ? "Remedy" : "Or";
  std::vector<std::string> needs;
  for (const Need need : remedy.needs) {
    for (const NeedText& row : need_texts) {
      if (row.need == need) needs.emplace_back(row.text);
    }
  }
  return needs.empty() ? label : label + " (needs " + join(needs, ", ") + ")";
}

std::string row_text(const Finding& finding) {
  std::string text = finding.observed;
  if (!contains(text, finding.subject)) text = finding.subject + ": " + text;
  if (finding.suppressed) text = "[ignored: " + finding.suppressed_reason + "] " + text;
  return text;
}

std::vector<std::string> explanation_of(const Finding& finding) {
  std::vector<std::string> said;
  for (const Evidence& row : finding.evidence) said.push_back("- " + row.source + ": " + row.value);
  if (!finding.cause.empty()) said.push_back(cause_label(finding) + ": " + finding.cause);
  for (const Remedy& remedy : finding.remedies) {
    said.push_back(remedy_label(finding, remedy) + ": " + remedy.text);
    for (const std::string& command : remedy.commands) said.push_back("    " + command);
  }
  if (!finding.ask.empty()) said.push_back("Decide it: " + finding.ask);
  if (!finding.verify.empty()) said.push_back("Check it: " + finding.verify);
  said.push_back("More: sage-doctor explain " + finding.id);
  return said;
}

}  // namespace sage
