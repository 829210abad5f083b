#pragma once

#include <array>
#include <string>

#include "doctor/report/report.hpp"
#include "doctor/report/report_style.hpp"
#include "probes/base/enum_names.hpp"

namespace sage {

/// What --format takes.
enum class ReportFormat { text, json, sarif, junit, markdown, html };

template <>
inline constexpr auto enum_names<ReportFormat> = std::to_array<EnumName<ReportFormat>>({
    {ReportFormat::text, "text"},
    {ReportFormat::json, "json"},
    {ReportFormat::sarif, "sarif"},
    {ReportFormat::junit, "junit"},
    {ReportFormat::markdown, "markdown"},
    {ReportFormat::html, "html"},
});

/// The report in a format. It ends with a line end, and only text with `colour` has escape codes.
[[nodiscard]] std::string formatted(const Report& report, ReportFormat format, const ReportStyle& style);

}  // namespace sage
