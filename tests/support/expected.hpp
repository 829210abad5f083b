#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/checks/finding.hpp"
#include "probes/base/result.hpp"

namespace sage {

struct ExpectedFinding {
  std::string id;
  std::string subject;
  Status status = Status::pass;
};

/// The expected.toml beside a capture (docs/capture-format.md).
struct Expected {
  bool deep = false;  ///< the capture is to be checked as with --deep
  std::vector<ExpectedFinding> findings;
};

[[nodiscard]] Result<Expected> read_expected(const std::filesystem::path& file);

/// What differs, in words; empty when `findings` are as expected: each listed one is there, and every fail, warn and
/// error is listed.
[[nodiscard]] std::vector<std::string> differences(const Expected& expected, const std::vector<Finding>& findings);

}  // namespace sage
