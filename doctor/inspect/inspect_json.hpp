#pragma once

#include <string>
#include <string_view>

#include "doctor/inspect/inspection.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// Raised when a reader of the older JSON would misread the newer one.
inline constexpr int inspect_version = 1;

/// The inspection as docs/inspect-schema.json describes it, two blanks of indentation, UTF-8 (bytes that are not become
/// U+FFFD), with a line end. Its size is the only bound: one kernel at a time is made into JSON.
[[nodiscard]] std::string inspect_json(const Inspection& inspection, std::string_view tool_version,
                                       Redaction redaction);

}  // namespace sage
