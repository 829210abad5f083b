#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/check.hpp"

namespace sage {

// The rows of topic libraries, in files by idea; libraries.cpp makes the table of them.
[[nodiscard]] std::vector<Finding> check_missing_libraries(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_symbol_versions(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_two_runtimes(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_bare_name(const CheckInput& input);
[[nodiscard]] std::vector<Finding> check_older_hsa(const CheckInput& input);

/// Without AMD GPU there is nothing to say, and without predictions nothing to say it from. After it, of every copy the
/// library and the paths are known, of every prediction scenario and example, and of what it loads all fields.
[[nodiscard]] std::optional<Finding> skip_without_predictions(const Facts& facts);

/// The predictions of these scenarios about files that exist. Only after skip_without_predictions() gave nothing.
[[nodiscard]] std::vector<const LoadPrediction*> predictions_of(const Facts& facts,
                                                                const std::vector<LoadScenario>& scenarios);

/// The skip of a prediction that could not be made.
[[nodiscard]] std::optional<Finding> skip_unpredicted(const LoadPrediction& prediction);

/// The copy that a path belongs to; nullptr when the list has none, or is unknown.
[[nodiscard]] const LibraryCopy* copy_at(const Facts& facts, const std::string& path);

/// "ROCm 7.2.0", or "version unknown".
[[nodiscard]] std::string release_of(const Facts& facts, const std::string& path);

/// "import torch", "the extension ..." for a sentence.
[[nodiscard]] std::string scenario_in_words(const LoadPrediction& prediction);

/// Two copies of one library that a process ends up with, in load order.
struct CopyPair {
  const LoadedCopy* first = nullptr;
  const LoadedCopy* second = nullptr;
};
/// The first library that the process has twice as different builds; nullopt when there is none.
[[nodiscard]] std::optional<CopyPair> two_copies(const Facts& facts, const LoadPrediction& prediction);

/// One row of evidence: the path, its release, and the rule that leads there.
[[nodiscard]] Evidence copy_evidence(const Facts& facts, const LoadedCopy& copy);

/// `sage-doctor libs FILE` for this file, as the environment in use would load it.
[[nodiscard]] std::string libs_command(const Facts& facts, const std::string& file);

}  // namespace sage
