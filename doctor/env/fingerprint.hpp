#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/fact.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// The facts that an environment was made from, as one word of letters, digits and /._+-:,=@% that needs quotes in no
/// shell: "sage-doctor-env/1,root=/opt/rocm-7.2.0,torch=2.9.1+rocm7.2,...". It is the value of SAGE_DOCTOR_ENV and
/// stands in every script.
[[nodiscard]] std::string make_mark(const Facts& facts, const std::string& root, bool python_named);

/// The first mark in a text (a script, in whatever language); nullopt: there is none.
[[nodiscard]] std::optional<std::string> find_mark(std::string_view text);

/// One thing that is not as the mark says.
struct Drift {
  std::string what;  ///< "PyTorch", "ROCm root" ...
  std::string then;
  std::string now;   ///< empty: it is gone

  friend bool operator==(const Drift&, const Drift&) = default;
};

/// "PyTorch was 2.9.1 and is 2.10.0", "PyTorch was 2.9.1 and is gone".
[[nodiscard]] std::string drift_in_words(const Drift& drift);

/// What a mark says and what is so now.
struct MarkComparison {
  std::vector<Drift> drifts;
  std::vector<std::string> unknown;  ///< what could not be compared, with the reason: "python.environments: ..."
};

/// The Error: the mark is not one of ours, or of a later version.
[[nodiscard]] Result<MarkComparison> compare_mark(std::string_view mark, const Facts& facts);

/// The ROCm root that a mark names; empty: none.
[[nodiscard]] std::string recorded_root(std::string_view mark);

/// The environment's prefix when the mark was made with --python; empty otherwise.
[[nodiscard]] std::string named_python(std::string_view mark);

}  // namespace sage
