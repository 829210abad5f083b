#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/report/report.hpp"

namespace sage {

/// Findings of one check that have the same cause and remedy and differ in their subject alone: eight GPUs and one
/// missing group are one thing to read and one thing to do.
using FindingGroup = std::vector<const Finding*>;

/// The groups of findings with this status that the configuration does not ignore, in the report's order.
[[nodiscard]] std::vector<FindingGroup> problems_of(const Report& report, Status status);

/// "FAIL", "ERROR", "WARN", "info", "ok", "skip".
[[nodiscard]] std::string_view label_of(Status status);

/// The line that ends a report for people: what was found, and how much was looked at.
struct Verdict {
  std::string found;    ///< "1 problem, 2 warnings"; "No known problem"
  std::string checked;  ///< "36 checked, 51 skipped"
  Status worst = Status::pass;
};
[[nodiscard]] Verdict verdict_of(const Report& report);

/// What the machine is, in a few words each: "Ubuntu 24.04.3 LTS", "Linux 6.14.0", "WSL2", "docker container".
[[nodiscard]] std::vector<std::string> machine_words(const Report& report);

/// What a reader who does not know the machine asks for first: ("GPU", "AMD Radeon RX 9070 XT (gfx1201):
/// 0000:03:00.0"), of equal GPUs one, ROCm and PyTorch. What is unknown or not there has no row.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> machine_rows(const Report& report);

/// "Cause (likely)"
[[nodiscard]] std::string cause_label(const Finding& finding);

/// "Remedy (needs administrator rights, a reboot afterwards)"; "Or ..." for those after the first.
[[nodiscard]] std::string remedy_label(const Finding& finding, const Remedy& remedy);

/// What one line says of a finding: the observation, with the subject where it does not name it and the reason why it
/// is ignored where it is.
[[nodiscard]] std::string row_text(const Finding& finding);

/// All that the report says of a finding after its first sentence, as lines of plain text: evidence, cause, remedies,
/// commands.
[[nodiscard]] std::vector<std::string> explanation_of(const Finding& finding);

}  // namespace sage
