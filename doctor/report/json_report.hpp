#pragma once

#include <string>

#include "doctor/report/report.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// Raised when a reader of the older JSON would misread the newer one.
inline constexpr int report_schema_version = 1;

/// The report as docs/json-schema.json describes it, two blanks of indentation, UTF-8 (bytes that are not become
/// U+FFFD), with a line end. Every text that comes from the machine goes through `redaction`, which is shown all of
/// them first; a default-made one keeps them as they are.
[[nodiscard]] std::string json_report(const Report& report, Redaction redaction);

}  // namespace sage
