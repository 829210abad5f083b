#include "doctor/report/format.hpp"

#include <algorithm>

#include "doctor/report/html_report.hpp"
#include "doctor/report/json_report.hpp"
#include "doctor/report/junit_report.hpp"
#include "doctor/report/markdown_report.hpp"
#include "doctor/report/sarif_report.hpp"
#include "doctor/report/text_report.hpp"

namespace sage {
namespace {

using Writer = std::string (*)(const Report&, const ReportStyle&);

struct Row {
  ReportFormat format;
  Writer write;
};

constexpr std::array writers = {
    Row{ReportFormat::text, text_report},         Row{ReportFormat::json, json_report},
    Row{ReportFormat::sarif, sarif_report},       Row{ReportFormat::junit, junit_report},
    Row{ReportFormat::markdown, markdown_report}, Row{ReportFormat::html, html_report},
};
static_assert(writers.size() == enum_names<ReportFormat>.size());

}  // namespace

std::string formatted(const Report& report, ReportFormat format, const ReportStyle& style) {
  const auto row = std::find_if(writers.begin(), writers.end(), [&](const Row& r) { return r.format == format; });
  return row->write(report, style);
}

}  // namespace sage
