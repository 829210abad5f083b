#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "doctor/inspect/inspection.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// Raised when a reader of the older JSON would misread the newer one.
inline constexpr int inspect_version = 1;

/// Takes the next piece of a text.
using TextSink = std::function<void(std::string_view)>;

/// Writes the inspection as docs/inspect-schema.json describes it, two blanks of indentation, UTF-8 (bytes that are not
/// become U+FFFD), with a line end. It comes in pieces of about 256 KiB, since that of a big library has hundreds of
/// megabytes.
void write_inspect_json(const Inspection& inspection, std::string_view tool_version, Redaction redaction,
                        const TextSink& sink);

/// All of it at once.
[[nodiscard]] std::string inspect_json(const Inspection& inspection, std::string_view tool_version,
                                       Redaction redaction);

}  // namespace sage
