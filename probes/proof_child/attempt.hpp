#pragma once

#include <string>

#include "probes/proof_child/compile.hpp"
#include "probes/proof_child/library.hpp"

namespace sage {

/// File in the current folder to which every way of compiling writes.
inline constexpr const char* object_file = "kernel.hsaco";

/// How an attempt to compile ended.
struct Attempt {
  std::string outcome;  ///< as of CompileProof
  std::string message;
  std::string command;
};

[[nodiscard]] Attempt compile_with_program(const CompileRequest& request);
/// hipRTC or comgr.
[[nodiscard]] Attempt compile_with_library(const CompileRequest& request);

/// From the worker of a library: its answer is the outcome in the first line and the words for it in the rest. A worker
/// that did not end well has its end as outcome.
[[nodiscard]] Attempt library_attempt(const WorkerEnd& end, std::string command);

/// Writes a file of the current folder; false when that failed.
[[nodiscard]] bool write_bytes(const char* name, std::string_view bytes);

}  // namespace sage
