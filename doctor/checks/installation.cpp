// The kernels that `sage-doctor build` has installed: whether they are whole, and whether they still fit the machine.

#include <algorithm>
#include <string>
#include <vector>

#include "doctor/build/compile/units.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/wording.hpp"
#include "doctor/env/fingerprint.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

std::optional<Finding> skip_without_installation(const Facts& facts) {
  if (auto skip = skip_unless_known({{"installation.present", &facts.installation.present}})) return skip;
  if (!*facts.installation.present) return not_applicable("sage-doctor build has installed no kernels for this user");
  return std::nullopt;
}

std::string current_folder(const Facts& facts) {
  return facts.installation.prefix.value_or("") + "/current";
}

Remedy build_again() {
  return {"Build them again. The installation that is there is replaced when the new one is complete.",
          {"sage-doctor build"},
          {}};
}

std::vector<Finding> check_broken(const CheckInput& input) {
  const Facts& facts = input.facts;
  const Installation& installation = facts.installation;
  if (auto skip = skip_without_installation(facts)) return {*skip};
  if (auto skip = skip_unless_known({{"installation.defect", &installation.defect}})) return {*skip};
  if (!installation.defect->empty()) {
    Finding finding = fail("the installed kernels can't be used: their manifest can't be read");
    finding.evidence = {{current_folder(facts), *installation.defect}};
    finding.cause = "Files of the installation were changed or removed; a build never leaves one like that.";
    finding.confidence = Confidence::likely;
    finding.remedies = {build_again()};
    finding.verify = "sage-doctor test";
    return {finding};
  }
  if (auto skip = skip_unless_known({{"installation.missing_files", &installation.missing_files}})) return {*skip};
  const std::vector<std::string>& missing = *installation.missing_files;
  if (missing.empty()) return {pass("every file of the installed kernels is there")};
  Finding finding = fail(counted(missing.size(), "file") + " of the installed kernels " +
                         (missing.size() == 1 ? "is" : "are") + " missing");
  constexpr std::size_t most_shown = 4;
  for (std::size_t i = 0; i < std::min(missing.size(), most_shown); ++i) {
    finding.evidence.push_back({current_folder(facts) + "/" + missing[i], "no such file"});
  }
  if (missing.size() > most_shown) {
    finding.evidence.push_back({current_folder(facts), "and " + std::to_string(missing.size() - most_shown) + " more"});
  }
  finding.cause = "They were removed after the build; the manifest lists them.";
  finding.remedies = {build_again()};
  finding.verify = "sage-doctor test";
  return {finding};
}

/// Targets of this machine's GPUs that there are kernels for, and that were not built. An integrated GPU beside a
/// discrete one is not what one computes with.
std::vector<std::string> uncovered(const Facts& facts) {
  const std::vector<std::string>& built = *facts.installation.targets;
  const std::vector<Gpu>& gpus = *facts.gpus.amd;
  const bool any_discrete =
      std::any_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.kind.is(GpuKind::discrete); });
  std::vector<std::string> missing;
  for (const Gpu& gpu : gpus) {
    const std::string& target = *gpu.target;
    const bool told = std::find(missing.begin(), missing.end(), target) != missing.end();
    const bool covered = std::find(built.begin(), built.end(), target) != built.end();
    const bool meant = !any_discrete || gpu.kind.is(GpuKind::discrete);
    if (meant && !told && !covered && units_of(target)) missing.push_back(target);
  }
  return missing;
}

/// A fact of the installation or of the GPUs that the comparison can't do without. Whether the installation is whole is one:
/// nothing is said of one that may be broken.
std::optional<Finding> skip_unless_comparable(const Facts& facts) {
  const Installation& installation = facts.installation;
  if (auto skip = skip_unless_known({{"installation.defect", &installation.defect},
                                     {"installation.missing_files", &installation.missing_files},
                                     {"installation.mark", &installation.mark},
                                     {"installation.targets", &installation.targets},
                                     {"installation.source_sha256", &installation.source_sha256},
                                     {"installation.program_source_sha256", &installation.program_source_sha256},
                                     {"gpus.amd", &facts.gpus.amd}})) {
    return skip;
  }
  for (const Gpu& gpu : *facts.gpus.amd) {
    if (auto skip = skip_unless_known({{"gpus.amd.target", &gpu.target}, {"gpus.amd.kind", &gpu.kind}})) return skip;
  }
  return std::nullopt;
}

std::vector<Finding> check_stale(const CheckInput& input) {
  const Facts& facts = input.facts;
  const Installation& installation = facts.installation;
  if (auto skip = skip_without_installation(facts)) return {*skip};
  if (auto skip = skip_unless_comparable(facts)) return {*skip};

  std::vector<std::string> changes;
  for (const std::string& target : uncovered(facts)) {
    changes.push_back("there are none for the " + target + " of this machine");
  }
  const Result<MarkComparison> compared = compare_mark(*installation.mark, facts);
  if (!compared) changes.push_back("their manifest tells what they were built for in another form");
  if (compared) {
    for (const Drift& drift : compared->drifts) changes.push_back(drift_in_words(drift));
  }
  const std::string& here = *installation.program_source_sha256;
  if (!here.empty() && here != *installation.source_sha256) {
    changes.push_back("sage-doctor " + installation.tool_version.value_or("of another version") +
                      " built them from other source than this one has");
  }

  if (changes.empty()) {
    if (!compared->unknown.empty()) return {make_finding(Status::skip, "unknown: " + compared->unknown.front())};
    return {pass("the installed kernels were built for what is here")};
  }
  Finding finding = warn("the installed kernels are stale: " + changes.front());
  for (std::size_t i = 1; i < changes.size(); ++i) finding.evidence.push_back({"since the build", changes[i]});
  finding.evidence.push_back({current_folder(facts), "built for " + join(*installation.targets, ", ")});
  finding.cause = "They were built and tried with what was there at the time.";
  finding.remedies = {
      {"Build again: kernels that still fit are taken from the cache, and all are tried with what is here now.",
       {"sage-doctor build"},
       {}}};
  finding.verify = "sage-doctor test";
  return {finding};
}

}  // namespace

std::vector<Check> build_checks() {
  return {
      {"build.broken", "Installed kernels are whole", Topic::build, {}, check_broken},
      {"build.stale", "Installed kernels fit this machine", Topic::build, {"build.broken"}, check_stale},
  };
}

}  // namespace sage
