#pragma once

#include <string>

#include "doctor/report/report.hpp"
#include "doctor/report/report_style.hpp"

namespace sage {

/// Raised when a reader of the older JSON would misread the newer one.
inline constexpr int report_schema_version = 1;

/// The report as docs/json-schema.json describes it, two blanks of indentation, UTF-8 (bytes that are not become
/// U+FFFD), with a line end. It is whole whatever the style.
[[nodiscard]] std::string json_report(const Report& report, const ReportStyle& style);

}  // namespace sage
