#include "doctor/bench/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "doctor/bench/statistics.hpp"
#include "doctor/bench/svg.hpp"
#include "doctor/build/compile/units.hpp"
#include "doctor/report/escape.hpp"

namespace sage {
namespace {

constexpr double panel_width = 460;
constexpr double panel_height = 300;
constexpr double left = 62;  // of the axes in a panel
constexpr double right = 16;
constexpr double top = 34;
constexpr double bottom = 48;
constexpr double margin = 16;
constexpr double head = 88;
constexpr double subtitle_line = 16;
constexpr double legend_line = 22;
constexpr double legend_width = panel_width / 2;
constexpr std::size_t panels_a_row = 2;

constexpr const char* bold = " font-weight=\"600\"";

std::string figure(const char* format, double value, const char* none = "") {
  if (!std::isfinite(value)) return none;
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string with(std::string_view attributes, std::string_view more) {
  return std::string(attributes) + std::string(more);
}

/// A step of 1, 2 or 5 times a power of ten, so that at most ten of them reach `most`.
double nice_step(double most) {
  const double raw = std::max(most, 1e-9) / 10.0;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10.0 * power;
}

/// One line of the plot: who, and the kernel alone or the call.
using Series = std::pair<std::string, BenchPart>;
using Panel = std::tuple<std::uint32_t, bool, std::string, std::uint32_t, std::uint32_t>;

Panel panel_of(const BenchRow& row) {
  return {row.shape.head_dim, row.shape.causal, row.type, row.shape.batch, row.shape.heads};
}

template <class T>
std::size_t place_in(std::vector<T>& list, const T& value) {
  const auto found = std::find(list.begin(), list.end(), value);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(value);
  return list.size() - 1;
}

std::string series_name(const Series& series) {
  return series.first + (series.second == BenchPart::kernel ? ", kernel alone" : "");
}

class SpeedPlot {
 public:
  explicit SpeedPlot(const BenchResult& result) : result_(result) {
    for (const BenchRow& row : result.rows) {
      if (!std::isfinite(row.tflops) || row.form != BenchForm::plain) continue;
      panels_[panel_of(row)].push_back(&row);
      place_in(series_, {row.contender, row.part});
      place_in(names_, row.contender);
      most_ = std::max(most_, fastest(row));
    }
    step_ = nice_step(most_);
    most_ = std::max(step_, std::ceil(most_ / step_) * step_);
  }

  /// All panels and the legend in one picture.
  std::string picture() const {
    const std::size_t rows = (panels_.size() + panels_a_row - 1) / panels_a_row;
    const std::size_t columns = std::min(panels_a_row, std::max<std::size_t>(panels_.size(), 1));
    const double width = 2 * margin + static_cast<double>(columns) * panel_width;
    const double legend_top = head + static_cast<double>(rows) * panel_height;
    const double height =
        legend_top + legend_line * static_cast<double>((series_.size() + columns * 2 - 1) / (columns * 2)) + 2 * margin;
    std::string text = svg::open(width, height, title());
    text += svg::text_at(margin, 26, title(), with(svg::ink, " font-size=\"17\" font-weight=\"600\""));
    double y = 30;
    for (const std::string& one : subtitles())
      text += svg::text_at(margin, y += subtitle_line, one, with(svg::pale_ink, " font-size=\"12\""));
    if (panels_.empty()) text += svg::text_at(margin, head + 20, nothing, svg::ink);
    std::size_t i = 0;
    for (const auto& [which, points] : panels_) {
      text += panel(which, points, margin + static_cast<double>(i % panels_a_row) * panel_width,
                    head + static_cast<double>(i / panels_a_row) * panel_height);
      ++i;
    }
    for (std::size_t one = 0; one < series_.size(); ++one) {
      text += legend(series_[one], margin + 8 + static_cast<double>(one % (columns * 2)) * legend_width,
                     legend_top + margin + legend_line * static_cast<double>(one / (columns * 2)));
    }
    return text + "</svg>\n";
  }

  /// The same in pieces, which a page sets side by side where it is wide enough.
  std::string pieces() const {
    std::string html = "<p>";
    for (const std::string& one : subtitles()) html += xml_text(one) + "<br>\n";
    html += "</p>\n<div class=\"pieces\">\n";
    for (const Series& series : series_)
      html += svg::open(legend_width, legend_line, series_name(series), false) + legend(series, 8, legend_line / 2) +
              "</svg>\n";
    html += "</div>\n<div class=\"pieces\">\n";
    if (panels_.empty()) html += "<p>" + std::string(nothing) + "</p>\n";
    for (const auto& [which, points] : panels_)
      html += svg::open(panel_width, panel_height, panel_title(which), false) + panel(which, points, 0, 0) + "</svg>\n";
    return html + "</div>\n";
  }

 private:
  static constexpr const char* nothing = "There is no speed to show.";

  /// A run that was an outlier does not squeeze all others to the bottom.
  static double fastest(const BenchRow& row) {
    const double best = row.milliseconds ? tflops_of(row.shape, row.milliseconds->min) : row.tflops;
    return std::isfinite(best) ? std::clamp(best, row.tflops, 1.5 * row.tflops) : row.tflops;
  }

  std::string title() const {
    const BenchDevice& device = result_.device;
    return "Attention on " + (device.name.empty() ? device.target : device.name + " (" + device.target + ")");
  }
  /// Short enough for the width of one panel.
  std::vector<std::string> subtitles() const {
    return {std::string(bench_formula),
            std::string("medians; thin lines: slowest to fastest run") +
                (result_.method.flushed_bytes > 0 ? "; caches cold" : ""),
            result_.tool + ", " + result_.time.substr(0, 10)};
  }

  /// Of its colour and marker: kernel and call of a contender share them.
  std::size_t place(const Series& series) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), series.first) - names_.begin());
  }
  static std::string dash(const Series& series) {
    return series.second == BenchPart::kernel ? " stroke-dasharray=\"6 4\"" : "";
  }

  static std::string panel_title(const Panel& which) {
    const auto& [dim, causal, type, batch, heads] = which;
    return "head dim " + std::to_string(dim) + ", " + (causal ? "causal" : "dense") + " (" + type + ", batch " +
           std::to_string(batch) + ", heads " + std::to_string(heads) + ")";
  }

  std::string panel(const Panel& which, const std::vector<const BenchRow*>& rows, double x, double y) const {
    const double axis_left = x + left;
    const double axis_right = x + panel_width - right;
    const double axis_top = y + top;
    const double axis_bottom = y + panel_height - bottom;
    std::vector<std::uint32_t> tokens;
    for (const BenchRow* row : rows) place_in(tokens, row->shape.tokens);
    std::sort(tokens.begin(), tokens.end());
    const double first = std::log2(tokens.front());
    const double range = std::log2(tokens.back()) - first;
    const auto x_of = [&](std::uint32_t n) {
      const double share = range > 0.0 ? (std::log2(n) - first) / range : 0.5;
      return axis_left + 14 + share * (axis_right - axis_left - 28);
    };
    const auto y_of = [&](double speed) { return axis_bottom - speed / most_ * (axis_bottom - axis_top); };

    std::string text = svg::text_at(axis_left, y + 20, panel_title(which), with(svg::ink, bold));
    for (int tick = 0; tick * step_ <= most_ * 1.001; ++tick) {
      const double at = y_of(tick * step_);
      text += svg::line(axis_left, at, axis_right, at, svg::grid);
      text += svg::text_at(axis_left - 8, at + 4, figure(step_ < 1 ? "%.2f" : "%.0f", tick * step_),
                           with(svg::ink, " text-anchor=\"end\""));
    }
    for (const std::uint32_t n : tokens) {
      text += svg::line(x_of(n), axis_bottom, x_of(n), axis_bottom + 5, svg::axis);
      text += svg::text_at(x_of(n), axis_bottom + 20, std::to_string(n), with(svg::ink, " text-anchor=\"middle\""));
    }
    text += svg::line(axis_left, axis_bottom, axis_right, axis_bottom, svg::axis);
    text += svg::text_at((axis_left + axis_right) / 2, axis_bottom + 38, "tokens",
                         with(svg::ink, " text-anchor=\"middle\""));
    const double middle = (axis_top + axis_bottom) / 2;
    text += svg::text_at(x + 16, middle, "TFLOPS",
                         with(svg::ink, " text-anchor=\"middle\" transform=\"rotate(-90 " + svg::number(x + 16) + " " +
                                            svg::number(middle) + ")\""));
    std::map<Series, std::map<std::uint32_t, const BenchRow*>> lines;
    for (const BenchRow* row : rows) lines[{row->contender, row->part}][row->shape.tokens] = row;
    for (const auto& [series, points] : lines) {
      std::string path;
      std::string marks;
      for (const auto& [n, row] : points) {
        path += (path.empty() ? "M" : " L") + svg::number(x_of(n)) + " " + svg::number(y_of(row->tflops));
        if (row->milliseconds) {
          const double slow = tflops_of(row->shape, row->milliseconds->max);
          const double fast = tflops_of(row->shape, row->milliseconds->min);
          if (std::isfinite(slow) && std::isfinite(fast))
            marks +=
                svg::line(x_of(n), y_of(slow), x_of(n), y_of(std::min(fast, most_)), svg::series_stroke(place(series)));
        }
        marks += svg::marker(place(series), x_of(n), y_of(row->tflops));
      }
      text += "<path d=\"" + path + "\" fill=\"none\" " + svg::series_stroke(place(series)) + " stroke-width=\"2\"" +
              dash(series) + "/>\n" + marks;
    }
    return text;
  }

  std::string legend(const Series& series, double x, double y) const {
    return svg::line(x, y, x + 34, y, with(svg::series_stroke(place(series)), " stroke-width=\"2\"" + dash(series))) +
           svg::marker(place(series), x + 17, y) + svg::text_at(x + 42, y + 4, series_name(series), svg::ink);
  }

  const BenchResult& result_;
  std::map<Panel, std::vector<const BenchRow*>> panels_;
  std::vector<Series> series_;
  std::vector<std::string> names_;
  double most_ = 0.0;
  double step_ = 1.0;
};

/// Bars of the shares of the peak, with the warning above them and in each bar's text.
std::string model_svg(const BenchResult& result) {
  constexpr double bar_height = 22;
  constexpr double name_width = 210;
  constexpr double bar_width = 480;
  constexpr double top_space = 104;
  std::vector<const BenchRow*> rows;
  for (const BenchRow& row : result.rows) {
    if (std::isfinite(row.peak_share)) rows.push_back(&row);
  }
  const double width = name_width + bar_width + 110;
  const double axis_bottom = top_space + bar_height * static_cast<double>(rows.size());
  const double height = axis_bottom + 56;
  const std::string title = "Modelled share of peak, " + result.device.target;
  std::string text = svg::open(width, height, title);
  text += svg::text_at(margin, 28, title, with(svg::ink, " font-size=\"17\" font-weight=\"600\""));
  const std::string_view warning = model_warning;
  const std::size_t colon = warning.find(':');
  text += svg::text_at(margin, 52, warning.substr(0, colon + 1), with(svg::warning_ink, bold));
  text += svg::text_at(margin, 72, warning.substr(colon + 2), with(svg::pale_ink, " font-size=\"12\""));
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const double x = name_width + bar_width * tenth / 10.0;
    text += svg::line(x, top_space - 8, x, axis_bottom, svg::grid);
    text += svg::text_at(x, axis_bottom + 18, std::to_string(tenth * 10), with(svg::ink, " text-anchor=\"middle\""));
  }
  text += svg::text_at(name_width + bar_width / 2, axis_bottom + 40, "modelled share of the peak matrix rate, %",
                       with(svg::ink, " text-anchor=\"middle\""));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = top_space + bar_height * static_cast<double>(i);
    const bool fp8 = rows[i]->contender.ends_with("fp8");
    const double filled = bar_width * std::clamp(rows[i]->peak_share, 0.0, 1.0);
    text +=
        svg::text_at(name_width - 8, y + 13, short_unit_name(rows[i]->kernel), with(svg::ink, " text-anchor=\"end\""));
    text += "<rect x=\"" + svg::number(name_width) + "\" y=\"" + svg::number(y) + "\" width=\"" + svg::number(filled) +
            "\" height=\"" + svg::number(bar_height - 6) + "\" " + svg::series_fill(fp8 ? 1 : 0) + "/>\n";
    text += svg::text_at(name_width + filled + 6, y + 13,
                         figure("%.0f %%", rows[i]->peak_share * 100.0) + (fp8 ? " (fp8 PV)" : ""), svg::ink);
  }
  return text + "</svg>\n";
}

std::string cell(const std::string& text, bool is_number) {
  return std::string("<td") + (is_number ? " class=\"n\"" : "") + ">" + xml_text(text) + "</td>";
}

std::string two(std::uint32_t first, const char* between, std::uint32_t second) {
  return std::to_string(first) + (first == second ? "" : between + std::to_string(second));
}

const char* part_words(BenchPart part) {
  return part == BenchPart::kernel ? "kernel alone" : part == BenchPart::prologue ? "prologue" : "whole call";
}

std::string table_row(const BenchRow& row) {
  const BenchShape& s = row.shape;
  const BenchSpread time = row.milliseconds.value_or(BenchSpread{});
  std::string cells =
      cell(row.contender, false) + cell(part_words(row.part), false) + cell(std::string(enum_name(row.form)), false);
  cells += cell(std::to_string(s.batch) + " x " + two(s.heads, "/", s.kv_heads) + " x " +
                    two(s.tokens, ":", s.kv_tokens) + " x " + std::to_string(s.head_dim),
                true);
  cells += cell(s.causal ? "causal" : "dense", false);
  if (!row.problem.empty()) {
    cells += "<td colspan=\"7\">no speed: " + xml_text(row.problem) + "</td>";
  } else {
    cells += cell(figure("%.4f", time.median, "?"), true);
    cells += cell(figure("%.4f", time.min, "?") + " to " + figure("%.4f", time.max, "?"), true);
    const bool prologue = row.part == BenchPart::prologue;
    const char* const none = prologue ? "" : "?";
    cells += cell(figure("%.1f", row.tflops, none), true);
    cells += cell(figure("%.0f %%", row.peak_share * 100, none), true);
    cells += cell(figure("%.0f %%", row.of_plain * 100), true);
    cells += cell(figure("%.2f", row.copy_ratio, prologue ? "?" : ""), true);
    cells += cell(row.accuracy ? figure("%.5f", row.accuracy->relative_l1, "?") : "", true);
  }
  return "<tr>" + cells + cell(row.kernel.empty() ? "" : short_unit_name(row.kernel), false) + "</tr>\n";
}

std::string figures(const BenchResult& result) {
  std::string html = "<div class=\"wide\"><table>\n<tr>";
  const std::string modelled = result.origin == BenchOrigin::modelled ? "modelled " : "";
  for (const std::string& name :
       {std::string("what"), std::string("part"), std::string("shape"), std::string("B x H x N x D"),
        std::string("mask"), std::string("ms"), std::string("min to max"), std::string("TFLOPS"),
        modelled + "share of peak", std::string("of plain"), std::string("x copy"), std::string("rel. L1"),
        std::string("kernel")})
    html += "<th>" + name + "</th>";
  html += "</tr>\n";
  for (const BenchRow& row : result.rows) html += table_row(row);
  return html + "</table></div>\n";
}

std::string device_words(const BenchDevice& device) {
  return device.name.empty() ? device.target : device.name + " (" + device.target + ")";
}

constexpr const char* page_rules =
    "body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #222; "
    "background: #fff; }\n"
    ".pieces { display: flex; flex-wrap: wrap; gap: 4px 12px; }\n.pieces svg { max-width: 100%; height: auto; }\n"
    ".wide { overflow-x: auto; }\nsvg { max-width: 100%; height: auto; }\n"
    "table { border-collapse: collapse; font-size: 13px; }\nth, td { padding: 2px 8px; border-bottom: 1px solid "
    "#ddd; text-align: left; white-space: nowrap; }\n"
    "td.n { text-align: right; font-variant-numeric: tabular-nums; }\n.warning { color: "
    "#b34700; font-weight: 600; }\n"
    "@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #16181c; } th, td { border-color: "
    "#363a42; } "
    ".warning { color: #ffa36b; } }\n";

}  // namespace

std::string bench_svg(const BenchResult& result) {
  return result.origin == BenchOrigin::modelled ? model_svg(result) : SpeedPlot(result).picture();
}

std::string bench_html(const BenchResult& result) {
  const std::string title = "Attention on " + device_words(result.device);
  const bool modelled = result.origin == BenchOrigin::modelled;
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      xml_text(title) + "</title>\n<style>\n" + page_rules + svg::dark_rules() + "</style>\n</head>\n<body>\n<h1>" +
      xml_text(title) + "</h1>\n";
  if (modelled) html += "<p class=\"warning\">" + xml_text(model_warning) + "</p>\n";
  html += modelled ? "<div class=\"wide\">" + model_svg(result) + "</div>\n" : SpeedPlot(result).pieces();
  html += "<h2>Figures</h2>\n" + figures(result);
  for (const std::string& note : result.notes) {
    if (note != model_warning) html += "<p>" + xml_text(note) + "</p>\n";
  }
  return html + "</body>\n</html>\n";
}

}  // namespace sage
