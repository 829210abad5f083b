#pragma once

#include <string>
#include <string_view>

#include "doctor/inspect/inspection.hpp"

namespace sage {

/// Raised when a reader of the older JSON would misread the newer one.
inline constexpr int inspect_version = 1;

/// The inspection as docs/inspect-schema.json describes it, two blanks of indentation, UTF-8 (bytes that are not become
/// U+FFFD), with a line end. Nothing is redacted: it is about one file that the user named.
[[nodiscard]] std::string inspect_json(const Inspection& inspection, std::string_view tool_version);

}  // namespace sage
