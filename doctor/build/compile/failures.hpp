#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/build/compile/jobs.hpp"
#include "probes/base/result.hpp"
#include "probes/facts/toolchains.hpp"

namespace sage {

/// Why a compile failed and what to do about it.
struct BuildFailure {
  std::string id;                     ///< "target-unknown", "out-of-memory" ...; "unknown" when no rule fits
  std::string cause;                  ///< a sentence
  std::string remedy;                 ///< a sentence or a command; empty: none is known
  std::vector<std::string> evidence;  ///< at most three lines of the output that show it, printable, in 200 columns
};

/// What is known of a failed compile besides its output.
struct FailureFacts {
  std::string compiler;  ///< path
  CompilerKind kind = CompilerKind::clang;
  std::string target;
  std::size_t parallel = 1;   ///< jobs that ran at a time
  bool wrote_output = false;  ///< there is an output file, of whatever contents
  std::chrono::seconds deadline{};
  bool disk_full = false;  ///< lld on a full disk dies of SIGBUS and says nothing of it
};

/// By the rules of failures.toml, in the order of the file; its end (signal, deadline, no output) where none fits.
[[nodiscard]] BuildFailure explain_failure(const JobEnd& end, const FailureFacts& facts);

/// The ids of the rules, in their order.
[[nodiscard]] std::vector<std::string> failure_ids();

/// The regular expressions of one rule, so that messages of compilers that stand in a log are known there as well.
[[nodiscard]] std::vector<std::string> failure_expressions(std::string_view id);

/// Every problem of the embedded rules themselves: a regular expression that does not compile, a missing key. For tests.
[[nodiscard]] std::vector<std::string> failure_rule_problems();

}  // namespace sage
