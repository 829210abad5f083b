#include "doctor/checks/libraries_common.hpp"

#include <algorithm>

#include "doctor/checks/scope.hpp"
#include "doctor/checks/wording.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

bool has_path(const LibraryCopy& copy, const std::string& path) {
  return copy.path == path ||
         std::find(copy.other_paths->begin(), copy.other_paths->end(), path) != copy.other_paths->end();
}

/// Different files, and not two names of one build.
bool different(const Facts& facts, const std::string& a, const std::string& b) {
  if (a == b) return false;
  const LibraryCopy* first = copy_at(facts, a);
  return first == nullptr || first != copy_at(facts, b);
}

std::optional<Finding> skip_unless_copies_known(const std::vector<LoadedCopy>& copies) {
  for (const LoadedCopy& copy : copies) {
    if (auto skip = skip_unless_known({{"libraries.predictions.copies.library", &copy.library},
                                       {"libraries.predictions.copies.requester", &copy.requester},
                                       {"libraries.predictions.copies.rule", &copy.rule}})) {
      return skip;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> skip_without_predictions(const Facts& facts) {
  if (auto skip = skip_without_gpu(facts)) return skip;
  const Libraries& libraries = facts.libraries;
  if (auto skip = skip_unless_known(
          {{"libraries.copies", &libraries.copies}, {"libraries.predictions", &libraries.predictions}})) {
    return skip;
  }
  for (const LibraryCopy& copy : *libraries.copies) {
    if (auto skip = skip_unless_known(
            {{"libraries.copies.library", &copy.library}, {"libraries.copies.other_paths", &copy.other_paths}})) {
      return skip;
    }
  }
  for (const LoadPrediction& prediction : *libraries.predictions) {
    if (auto skip = skip_unless_known({{"libraries.predictions.scenario", &prediction.scenario},
                                       {"libraries.predictions.example", &prediction.example}})) {
      return skip;
    }
    for (const auto* list : {&prediction.copies, &prediction.requests}) {
      if (!list->known()) continue;
      if (auto skip = skip_unless_copies_known(**list)) return skip;
    }
  }
  return std::nullopt;
}

std::vector<const LoadPrediction*> predictions_of(const Facts& facts, const std::vector<LoadScenario>& scenarios) {
  std::vector<const LoadPrediction*> found;
  for (const LoadPrediction& prediction : *facts.libraries.predictions) {
    const bool wanted = std::find(scenarios.begin(), scenarios.end(), *prediction.scenario) != scenarios.end();
    if (wanted && !*prediction.example) found.push_back(&prediction);
  }
  return found;
}

std::optional<Finding> skip_unpredicted(const LoadPrediction& prediction) {
  return skip_unless_known({{"libraries.predictions.copies", &prediction.copies},
                            {"libraries.predictions.requests", &prediction.requests},
                            {"libraries.predictions.missing", &prediction.missing},
                            {"libraries.predictions.unmet_versions", &prediction.unmet_versions}},
                           prediction.subject);
}

const LibraryCopy* copy_at(const Facts& facts, const std::string& path) {
  for (const LibraryCopy& copy : *facts.libraries.copies) {
    if (has_path(copy, path)) return &copy;
  }
  return nullptr;
}

std::string release_of(const Facts& facts, const std::string& path) {
  const LibraryCopy* copy = copy_at(facts, path);
  if (copy == nullptr || !copy->rocm_version.known()) return "version unknown";
  return "ROCm " + *copy->rocm_version;
}

std::string scenario_in_words(const LoadPrediction& prediction) {
  switch (*prediction.scenario) {
    case LoadScenario::program: return "a program that needs " + prediction.subject;
    case LoadScenario::torch: return "import torch";
    case LoadScenario::torch_then_extension: return "import torch, then " + prediction.subject;
    case LoadScenario::extension: return prediction.subject;
    case LoadScenario::extension_then_torch: return prediction.subject + ", then import torch";
    case LoadScenario::triton: return "import torch, then Triton";
    case LoadScenario::bare_name: return "a plain dlopen after import torch";
  }
  return "a process";
}

std::optional<CopyPair> two_copies(const Facts& facts, const LoadPrediction& prediction) {
  const std::vector<LoadedCopy>& copies = *prediction.copies;
  for (std::size_t second = 1; second < copies.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      const bool same_library = copies[first].library == copies[second].library;
      if (same_library && different(facts, copies[first].path, copies[second].path)) {
        return CopyPair{&copies[first], &copies[second]};
      }
    }
  }
  return std::nullopt;
}

Evidence copy_evidence(const Facts& facts, const LoadedCopy& copy) {
  std::string value = release_of(facts, copy.path);
  const std::string& requester = *copy.requester;
  if (!requester.empty()) value += ", for " + requester.substr(requester.rfind('/') + 1);
  value += ", by " + *copy.rule;
  return {copy.path, value};
}

std::string libs_command(const Facts& facts, const std::string& file) {
  std::string command = "sage-doctor libs";
  const auto& environments = facts.python.environments;
  if (environments.known() && !environments->empty() && !environments->front().executable.empty()) {
    command += " --program " + shell_word(environments->front().executable);
  }
  return command + " " + shell_word(file);
}

}  // namespace sage
