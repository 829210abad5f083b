#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "doctor/report/report.hpp"

namespace sage {

/// Raised when a reader of the older JSON would misread the newer one.
inline constexpr int report_schema_version = 1;

/// The report as docs/json-schema.json describes it, two blanks of indentation, UTF-8 (bytes that are not become
/// U+FFFD), with a line end. Every text that comes from the machine goes through `redact`.
[[nodiscard]] std::string json_report(const Report& report,
                                      const std::function<std::string(std::string_view)>& redact);

}  // namespace sage
