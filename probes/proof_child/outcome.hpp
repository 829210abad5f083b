#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "probes/host/child.hpp"
#include "probes/host/host.hpp"

namespace sage {

inline constexpr std::string_view outcome_ok = "ok";

/// "ok", "exit status 1", "killed by SIGABRT", "deadline of 60 s passed".
[[nodiscard]] std::string outcome_of(const ProgramOutput& end, std::chrono::seconds deadline);
[[nodiscard]] std::string outcome_of(const ChildOutcome& end, std::chrono::seconds deadline);

/// The line that says why: the first error of a compiler, without the "clang: error:" before it; else the last line
/// that says anything. Printable, at most 300 bytes.
[[nodiscard]] std::string decisive_line(std::string_view talk);

/// The same for Python, whose reason stands in the last line.
[[nodiscard]] std::string last_line(std::string_view talk);

/// What a foreign program or library said, made fit for a report: one line, printable, at most 300 bytes.
[[nodiscard]] std::string brief(std::string_view text);

}  // namespace sage
