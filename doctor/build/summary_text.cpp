#include <algorithm>
#include <cstdio>

#include "doctor/build/summary.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/report/wrap.hpp"

namespace sage {
namespace {

constexpr std::string_view indent = "  ";

std::string line(std::string_view text, std::size_t width, std::string_view first = indent, std::string_view rest = "    ") {
  return wrapped(printable(text), first, rest, width);
}

/// "17 kernels, compiled with clang++ 19.1.7, /usr/bin/clang++-19"
std::string how_made(const ManifestTarget& target) {
  const auto count = [&](ObjectOrigin origin) {
    return std::count_if(target.kernels.begin(), target.kernels.end(), [&](const ManifestKernel& one) { return one.origin == origin; });
  };
  std::string text = counted(target.kernels.size(), "code object");
  const auto made_before = count(ObjectOrigin::prebuilt);
  const auto cached = count(ObjectOrigin::cached);
  if (static_cast<std::size_t>(made_before) == target.kernels.size()) return text + ", made together with sage-doctor (prebuilt)";
  text += ", compiled with " + target.toolchain.kind;
  if (!target.toolchain.version.empty()) text += " " + target.toolchain.version;
  const bool nvcc = target.toolchain.kind == enum_name(CompilerKind::nvcc);
  if (!target.toolchain.rocm_version.empty()) text += (nvcc ? " of CUDA " : " of ROCm ") + target.toolchain.rocm_version;
  text += " (" + target.toolchain.path + ")";
  if (cached > 0) text += "; " + std::to_string(cached) + " of them in an earlier build";
  if (made_before > 0) text += "; " + std::to_string(made_before) + " of them prebuilt";
  return text;
}

/// "scratch 0, spills 0, at most 248 VGPRs and 51 KiB of LDS"
std::string resources(const ManifestTarget& target) {
  std::uint32_t scratch = 0;
  std::uint32_t spills = 0;
  std::uint32_t vgprs = 0;
  std::uint32_t lds = 0;
  for (const ManifestKernel& one : target.kernels) {
    scratch = std::max(scratch, one.scratch_bytes);
    spills = std::max(spills, one.spilled_registers);
    vgprs = std::max(vgprs, one.vgprs);
    lds = std::max(lds, one.lds_bytes);
  }
  std::string text = "verified: scratch " + std::to_string(scratch) + ", spills " + std::to_string(spills);
  if (vgprs > 0) text += ", at most " + std::to_string(vgprs) + " registers a lane";
  constexpr std::uint32_t kib = 1024;
  if (lds > 0) text += " and " + std::to_string((lds + kib - 1) / kib) + " KiB of LDS";
  return text;
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%9.5f", value);
  return text;
}

std::string failures_text(const TargetOutcome& target, std::size_t width) {
  std::string text;
  std::vector<std::string> told;
  for (const UnitResult& unit : target.result.units) {
    if (!unit.failure || unit.state == UnitState::ready) continue;
    const BuildFailure& failure = *unit.failure;
    // One cause fails every kernel in the same way: it is told once.
    if (std::find(told.begin(), told.end(), failure.cause) != told.end()) continue;
    told.push_back(failure.cause);
    text += line(failure.cause, width, "  cause    ", "           ");
    for (const std::string& evidence : failure.evidence) text += line(evidence, width, "           > ", "             ");
    if (!failure.remedy.empty()) text += line(failure.remedy, width, "  remedy   ", "           ");
  }
  return text;
}

/// The first few: a compiler that is too old warns of every kernel in two ways.
std::string warnings_text(const ManifestTarget& target, std::size_t width) {
  constexpr std::size_t most = 3;
  std::string text;
  std::size_t count = 0;
  for (const ManifestKernel& kernel : target.kernels) {
    for (const std::string& warning : kernel.warnings) {
      if (++count > most) continue;
      const bool named = warning.find(kernel.name) != std::string::npos;
      text += line("warning: " + (named ? "" : kernel.name + ": ") + warning, width);
    }
  }
  if (count > most) text += line("and " + counted(count - most, "warning") + " more in manifest.json", width);
  return text;
}

std::string targets_text(const Manifest& manifest, std::size_t width) {
  std::string text;
  for (const ManifestTarget& target : manifest.targets) {
    text += target.target + "\n";
    text += line(how_made(target), width);
    text += line(resources(target), width);
    text += warnings_text(target, width);
  }
  return text;
}

void add_remedy(std::string& text, const Remedy& remedy, std::size_t width) {
  text += line(remedy.text, width, "    ");
  for (const std::string& command : remedy.commands) text += "      " + printable(command) + "\n";
}

std::string advice_text(const std::vector<Remedy>& advice, std::size_t width) {
  if (advice.empty()) return "";
  std::string text = "\nWhat to do:\n";
  for (const Remedy& remedy : advice) add_remedy(text, remedy, width);
  return text;
}

std::string findings_text(const std::vector<Finding>& findings, std::size_t width) {
  if (findings.empty()) return "";
  std::string text = "\nWhat sage-doctor check says of it:\n";
  for (const Finding& one : findings) {
    text += line(one.observed, width, "  " + one.id + ": ");
    for (const Remedy& remedy : one.remedies) add_remedy(text, remedy, width);
  }
  return text;
}

std::string failed_text(const BuildOutcome& outcome, const BuildHints& hints, std::size_t width) {
  std::string text;
  for (const std::string& problem : outcome.problems) text += line(problem, width, "fail  ", "      ");
  for (const TargetOutcome& target : outcome.targets) {
    text += failures_text(target, width);
    for (const auto& [compiler, reason] : target.passed_over) text += line("tried too: " + compiler + ": " + reason, width);
    if (target.compiler != nullptr) continue;
    for (const auto& [compiler, reason] : target.unable) text += line("not tried: " + compiler + ": " + reason, width);
  }
  text += advice_text(hints.advice, width);
  text += findings_text(hints.findings, width);
  if (!outcome.log.empty()) text += "\nThe whole log: " + printable(outcome.log) + "\n";
  if (outcome.folder.empty()) text += "Not built. What was installed before is as it was.\n";
  return text;
}

}  // namespace

std::string accuracy_text(const std::vector<ManifestAccuracy>& rows, std::size_t width) {
  std::string text;
  std::string where;
  for (const ManifestAccuracy& row : rows) {
    if (row.where != where) {
      where = row.where;
      text += line("Against attention in double precision, " + where + ":", width, "", "");
      text += "                    rel. L1      RMSE worst row       LSE\n";
    }
    std::string name = short_unit_name(row.kernel);
    constexpr std::size_t name_columns = 16;
    name.resize(std::max(name.size(), name_columns), ' ');
    const std::string mask = row.case_text.substr(0, row.case_text.find(','));
    text += "  " + name + figure(row.relative_l1) + " " + figure(row.rmse) + " " + figure(row.worst_row) + " " + figure(row.lse_error) +
            "  " + mask + (row.passed ? "" : "  WRONG") + "\n";
  }
  return text;
}

std::string worth(const Manifest& manifest) {
  std::size_t executed = 0;
  std::size_t all = 0;
  std::string where;
  for (const ManifestTarget& target : manifest.targets) {
    for (const ManifestKernel& kernel : target.kernels) {
      ++all;
      if (kernel.executed_on == ExecutedOn::gpu) ++executed;
    }
  }
  for (const ManifestAccuracy& row : manifest.accuracy) {
    if (row.where.starts_with("gpu ")) where = row.where.substr(4);
  }
  if (executed == 0) return "built and verified statically, NOT executed on a GPU";
  if (executed == all) return "built, verified and run on the GPU (" + where + ")";
  return "built and verified; " + std::to_string(executed) + " of " + counted(all, "code object") + " run on the GPU (" + where + ")";
}

std::string build_text(const BuildOutcome& outcome, const BuildHints& hints, std::size_t width) {
  switch (outcome.state) {
    case BuildOutcome::State::failed: return failed_text(outcome, hints, width);
    case BuildOutcome::State::interrupted: return "Interrupted. What was installed before is as it was.\n";
    case BuildOutcome::State::up_to_date:
    case BuildOutcome::State::installed: break;
  }
  std::string text = targets_text(outcome.manifest, width);
  for (const TargetOutcome& target : outcome.targets) {
    for (const auto& [compiler, reason] : target.passed_over) text += line("passed over: " + compiler + ": " + reason, width);
  }
  text += "\n" + accuracy_text(outcome.manifest.accuracy, width);
  for (const std::string& note : outcome.notes) text += line("note: " + note, width, "", "  ");
  const bool done_before = outcome.state == BuildOutcome::State::up_to_date;
  text += "\n" + std::string(done_before ? "Nothing to do: this is installed in " : "Installed in ") + printable(outcome.folder) + "\n";
  return text + worth(outcome.manifest) + "\n";
}

}  // namespace sage
