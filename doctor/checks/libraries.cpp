// Loads that fail: a library that nothing leads to, or one that is too old. glibc says so only when it happens, in the
// middle of an import, and of the path it took it says nothing.

#include <algorithm>

#include "doctor/checks/libraries_common.hpp"
#include "doctor/checks/python_common.hpp"
#include "doctor/checks/registry.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

bool is_hip(const std::string& name) {
  return name.starts_with("libamdhip64.so");
}

/// What there is of a library beside the one that is missing.
void add_other_copies(const Facts& facts, Finding& finding) {
  for (const LibraryCopy& copy : *facts.libraries.copies) {
    if (!copy.library.is(RuntimeLibrary::amdhip64)) continue;
    finding.evidence.push_back({copy.path, "SONAME " + copy.soname.value_or("unknown") + ", " + release_of(facts, copy.path)});
  }
}

Finding judge_missing(const CheckInput& input, const LoadPrediction& prediction) {
  if (auto skip = skip_unpredicted(prediction)) return *skip;
  const std::vector<std::string>& missing = *prediction.missing;
  const bool torch = prediction.scenario.is(LoadScenario::torch);
  if (missing.empty()) return pass(scenario_in_words(prediction) + ": every library is found", prediction.subject);

  const bool runtime = std::any_of(missing.begin(), missing.end(), is_hip);
  const std::string what = (torch ? std::string("import torch") : file_name(prediction.subject)) + " can't be loaded: nothing leads to ";
  Finding finding = torch || runtime ? fail(what + join(missing, ", "), prediction.subject)
                                     : warn(what + join(missing, ", "), prediction.subject);
  for (const std::string& name : missing) finding.evidence.push_back({prediction.subject, "needs " + name});
  if (runtime) {
    add_other_copies(input.facts, finding);
    finding.cause = "It was built for a ROCm of which this machine has no runtime: the number at the end of "
                    "libamdhip64.so is that of HIP, and another one does not do.";
    if (torch) {
      finding.remedies = {install_rocm_torch(input),
                          {"Or install the ROCm release that it was built for, beside the present one.", {}, {}}};
    } else {
      finding.remedies = {{"Build or install the package anew, for the ROCm that PyTorch brings.", {}, {}}};
    }
  } else {
    finding.cause = "The library belongs to a package that is not installed, or lies where the loader does not look.";
    finding.confidence = Confidence::likely;
    finding.remedies = {{"Install what brings " + join(missing, ", ") + ", or install " +
                             (torch ? "PyTorch" : "the package") + " anew.",
                         {},
                         {}}};
  }
  finding.verify = libs_command(input.facts, prediction.subject);
  return finding;
}

bool in_conda(const std::string& path) {
  return contains(path, "conda") || contains(path, "mamba") || contains(path, "miniforge");
}

bool is_glibc(const std::string& version) {
  return version.starts_with("GLIBC_");
}

Remedy newer_library(const Facts& facts, const UnmetVersion& gap) {
  const std::string library = gap.library.value_or("");
  const Variable* variable = facts.environment.find("LD_LIBRARY_PATH");
  const std::string folder = parent_folder(library);
  const bool by_variable = variable != nullptr && variable->value.known() && contains(variable->value->value_or(""), folder);
  const std::string served_by = gap.served_by.value_or("");
  const bool may_do = !gap.served_by.known() || !served_by.empty();
  if (by_variable && may_do) {
    Remedy remedy = unset_remedy({variable});
    const std::string other = served_by.empty() ? "the system's own copy may be newer" : served_by + " has what is needed";
    remedy.text = "Take " + folder + " out of LD_LIBRARY_PATH: " + other + ". " + remedy.text;
    return remedy;
  }
  if (in_conda(library)) {
    return {"Update the C++ library of the conda environment.", {"conda install -c conda-forge 'libstdcxx-ng>=13'"}, {}};
  }
  return {"Use a build for this distribution's age: an older wheel, or a newer distribution.", {}, {}};
}

Finding judge_versions(const CheckInput& input, const LoadPrediction& prediction) {
  if (auto skip = skip_unpredicted(prediction)) return *skip;
  const std::vector<UnmetVersion>& gaps = *prediction.unmet_versions;
  if (gaps.empty()) return pass(scenario_in_words(prediction) + ": every symbol version is there", prediction.subject);
  const UnmetVersion& first = gaps.front();
  if (auto skip = skip_unless_known({{"libraries.predictions.unmet_versions.library", &first.library},
                                     {"libraries.predictions.unmet_versions.version", &first.version}},
                                    prediction.subject)) {
    return *skip;
  }
  Finding finding = fail(*first.library + " has no " + *first.version + ", which " + file_name(first.object) + " needs",
                         prediction.subject);
  for (const UnmetVersion& gap : gaps) {
    if (finding.evidence.size() == 6) break;
    finding.evidence.push_back({gap.object, "needs " + gap.version.value_or("?") + " of " + gap.library.value_or("?")});
  }
  const std::string served_by = first.served_by.value_or("");
  if (!served_by.empty()) {
    finding.evidence.push_back({served_by, "has " + *first.version});
    finding.cause = in_conda(*first.library)
                        ? "The conda environment's older library stands before the system's, which would do."
                        : "An older library stands before the system's, which would do.";
  } else if (in_conda(*first.library)) {
    finding.cause = "The library of a conda environment is older than what is needed.";
  } else if (is_glibc(*first.version)) {
    finding.cause = "The file was built for a newer glibc than this system runs; no other copy of it can be used.";
  } else {
    finding.cause = "The file was built with a newer compiler than the library of this system came with.";
  }
  finding.remedies = {newer_library(input.facts, first)};
  finding.verify = libs_command(input.facts, prediction.subject);
  return finding;
}

using JudgePrediction = Finding (*)(const CheckInput&, const LoadPrediction&);

std::vector<Finding> judge_each(const CheckInput& input, JudgePrediction judge) {
  if (auto skip = skip_without_predictions(input.facts)) return {*skip};
  std::vector<Finding> findings;
  const auto predictions =
      predictions_of(input.facts, {LoadScenario::torch, LoadScenario::torch_then_extension, LoadScenario::extension});
  for (const LoadPrediction* prediction : predictions) {
    const bool told = std::any_of(findings.begin(), findings.end(),
                                  [&](const Finding& other) { return other.subject == prediction->subject; });
    if (!told) findings.push_back(judge(input, *prediction));
  }
  if (findings.empty()) return {not_applicable("no ROCm build of PyTorch and no compiled extension")};
  return findings;
}

}  // namespace

std::vector<Finding> check_missing_libraries(const CheckInput& input) {
  return judge_each(input, judge_missing);
}

std::vector<Finding> check_symbol_versions(const CheckInput& input) {
  return judge_each(input, judge_versions);
}

std::vector<Check> library_checks() {
  const auto row = [](std::string_view id, std::string_view title, CheckFunction run,
                      std::string_view depends = "gpu.present") {
    return Check{id, title, Topic::libraries, {depends}, run};
  };
  return {
      // A PyTorch without the runtime that its kind takes from the system is told there.
      row("libs.missing", "Every library is found", check_missing_libraries, "python.system-rocm"),
      row("libs.libstdcxx", "The C and C++ libraries are new enough", check_symbol_versions),
      row("libs.two-runtimes", "One ROCm runtime in a process", check_two_runtimes),
      row("libs.bare-name", "Plain names lead to the same runtime", check_bare_name),
      row("libs.hsa-older", "HIP and HSA are of one release", check_older_hsa),
  };
}

}  // namespace sage
