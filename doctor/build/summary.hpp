#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/build/build.hpp"
#include "doctor/checks/finding.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// What to tell beside a failed build.
struct BuildHints {
  std::vector<Finding> findings;  ///< failures of `check` that explain why nothing ran on the GPU
  std::vector<Remedy> advice;     ///< build_advice()
};

/// What a build did, for people, in `width` columns. The last line says what the result is worth.
[[nodiscard]] std::string build_text(const BuildOutcome& outcome, const BuildHints& hints, std::size_t width);

/// The same as JSON with a line end (docs/build-schema.json).
[[nodiscard]] std::string build_json(const BuildOutcome& outcome, const BuildHints& hints, Redaction redaction);

/// Rows of accuracy figures under their heading, one block for each place where kernels ran.
[[nodiscard]] std::string accuracy_text(const std::vector<ManifestAccuracy>& rows, std::size_t width);

/// What a build or a test is worth: "run on the GPU ...", or that nothing was.
[[nodiscard]] std::string worth(const Manifest& manifest);

}  // namespace sage
