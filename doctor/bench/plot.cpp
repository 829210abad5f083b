#include "doctor/bench/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "doctor/bench/statistics.hpp"
#include "doctor/build/compile/units.hpp"
#include "doctor/report/escape.hpp"

namespace sage {
namespace {

// Okabe and Ito's colours without the yellow, which white swallows: told apart with every kind of colour blindness.
// Shapes and dashes differ besides, for printers.
constexpr auto colours =
    std::to_array<const char*>({"#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9"});
constexpr std::size_t marker_count = 5;

constexpr double panel_width = 460;
constexpr double panel_height = 300;
constexpr double left = 62;  // of the axes in a panel
constexpr double right = 16;
constexpr double top = 34;
constexpr double bottom = 48;
constexpr double margin = 16;
constexpr double head = 64;
constexpr double legend_line = 22;
constexpr std::size_t panels_a_row = 2;

std::string number(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string figure(const char* format, double value, const char* none = "") {
  if (!std::isfinite(value)) return none;
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string text_at(double x, double y, std::string_view text, std::string_view more) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + std::string(more) + ">" + xml_text(text) +
         "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view more) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" " + std::string(more) + "/>\n";
}

std::string marker(std::size_t kind, double x, double y, const std::string& colour) {
  const std::string fill = "fill=\"" + colour + "\"";
  constexpr double r = 4.5;
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> points) {
    std::string text = "<polygon points=\"";
    for (const auto& [dx, dy] : points) text += number(x + dx * r) + "," + number(y + dy * r) + " ";
    return text + "\" " + fill + "/>\n";
  };
  switch (kind % marker_count) {
    case 0:
      return "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(r) + "\" " + fill + "/>\n";
    case 1:
      return polygon({{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}});
    case 2:
      return polygon({{0, -1.15}, {1.1, .85}, {-1.1, .85}});
    case 3:
      return polygon({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    default:
      return polygon({{-1.1, -.85}, {1.1, -.85}, {0, 1.15}});
  }
}

/// A step of 1, 2 or 5 times a power of ten, so that at most seven of them reach `most`.
double nice_step(double most) {
  const double raw = std::max(most, 1e-9) / 7.0;
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
      if (!std::isfinite(row.tflops)) continue;
      panels_[panel_of(row)].push_back(&row);
      place_in(series_, {row.contender, row.part});
      place_in(names_, row.contender);
      most_ = std::max(most_, fastest(row));
    }
    step_ = nice_step(most_);
    most_ = std::max(step_, std::ceil(most_ / step_) * step_);
  }

  std::string text() const {
    const std::size_t rows = (panels_.size() + panels_a_row - 1) / panels_a_row;
    const std::size_t columns = std::min(panels_a_row, std::max<std::size_t>(panels_.size(), 1));
    const double width = 2 * margin + static_cast<double>(columns) * panel_width;
    const double legend_top = head + static_cast<double>(rows) * panel_height;
    const double height =
        legend_top + legend_line * static_cast<double>((series_.size() + columns * 2 - 1) / (columns * 2)) + 2 * margin;
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
                      number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                      "\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"13\" role=\"img\">\n";
    svg += "<title>" + xml_text(title()) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    svg += text_at(margin, 26, title(), "font-size=\"17\" font-weight=\"600\"");
    svg += text_at(margin, 46, subtitle(), "fill=\"#555555\" font-size=\"12\"");
    if (panels_.empty()) svg += text_at(margin, head + 20, "There is no speed to show.", "");
    std::size_t i = 0;
    for (const auto& [which, points] : panels_) {
      svg += panel(which, points, margin + static_cast<double>(i % panels_a_row) * panel_width,
                   head + static_cast<double>(i / panels_a_row) * panel_height);
      ++i;
    }
    return svg + legend(legend_top + margin, columns * 2) + "</svg>\n";
  }

 private:
  /// A run that was an outlier does not squeeze all others to the bottom.
  static double fastest(const BenchRow& row) {
    const double best = row.milliseconds ? tflops_of(row.shape, row.milliseconds->min) : row.tflops;
    return std::isfinite(best) ? std::clamp(best, row.tflops, 1.5 * row.tflops) : row.tflops;
  }

  std::string title() const {
    const BenchDevice& device = result_.device;
    return "Attention on " + (device.name.empty() ? device.target : device.name + " (" + device.target + ")");
  }
  std::string subtitle() const {
    return std::string(bench_formula) + "; medians, thin lines from slowest to fastest run" +
           (result_.method.flushed_bytes > 0 ? ", caches cold" : "") + ". " + result_.tool + ", " +
           result_.time.substr(0, 10);
  }

  std::string colour(const Series& series) const {
    const auto at = std::find(names_.begin(), names_.end(), series.first);
    return colours[static_cast<std::size_t>(at - names_.begin()) % colours.size()];
  }
  std::size_t marker_kind(const Series& series) const {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), series.first) - names_.begin());
  }
  static std::string dash(const Series& series) {
    return series.second == BenchPart::kernel ? " stroke-dasharray=\"6 4\"" : "";
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

    const auto& [dim, causal, type, batch, heads] = which;
    std::string svg = text_at(axis_left, y + 20,
                              "head dim " + std::to_string(dim) + ", " + (causal ? "causal" : "dense") + " (" + type +
                                  ", batch " + std::to_string(batch) + ", heads " + std::to_string(heads) + ")",
                              "font-weight=\"600\"");
    for (int tick = 0; tick * step_ <= most_ * 1.001; ++tick) {
      const double at = y_of(tick * step_);
      svg += line(axis_left, at, axis_right, at, "stroke=\"#dddddd\"");
      svg += text_at(axis_left - 8, at + 4, figure(step_ < 1 ? "%.2f" : "%.0f", tick * step_),
                     "text-anchor=\"end\" fill=\"#333333\"");
    }
    for (const std::uint32_t n : tokens) {
      svg += line(x_of(n), axis_bottom, x_of(n), axis_bottom + 5, "stroke=\"#333333\"");
      svg += text_at(x_of(n), axis_bottom + 20, std::to_string(n), "text-anchor=\"middle\" fill=\"#333333\"");
    }
    svg += line(axis_left, axis_bottom, axis_right, axis_bottom, "stroke=\"#333333\"");
    svg += text_at((axis_left + axis_right) / 2, axis_bottom + 38, "tokens", "text-anchor=\"middle\"");
    const double middle = (axis_top + axis_bottom) / 2;
    svg += text_at(x + 16, middle, "TFLOPS",
                   "text-anchor=\"middle\" transform=\"rotate(-90 " + number(x + 16) + " " + number(middle) + ")\"");
    std::map<Series, std::map<std::uint32_t, const BenchRow*>> lines;
    for (const BenchRow* row : rows) lines[{row->contender, row->part}][row->shape.tokens] = row;
    for (const auto& [series, points] : lines) {
      std::string path;
      std::string marks;
      for (const auto& [n, row] : points) {
        path += (path.empty() ? "M" : " L") + number(x_of(n)) + " " + number(y_of(row->tflops));
        if (row->milliseconds) {
          const double slow = tflops_of(row->shape, row->milliseconds->max);
          const double fast = tflops_of(row->shape, row->milliseconds->min);
          if (std::isfinite(slow) && std::isfinite(fast))
            marks += line(x_of(n), y_of(slow), x_of(n), y_of(std::min(fast, most_)),
                          "stroke=\"" + colour(series) + "\" stroke-width=\"1\"");
        }
        marks += marker(marker_kind(series), x_of(n), y_of(row->tflops), colour(series));
      }
      svg += "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + colour(series) + "\" stroke-width=\"2\"" +
             dash(series) + "/>\n" + marks;
    }
    return svg;
  }

  std::string legend(double y, std::size_t columns) const {
    std::string svg;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const double x = margin + 8 + static_cast<double>(i % columns) * panel_width / 2;
      const double at = y + legend_line * static_cast<double>(i / columns);
      svg += line(x, at, x + 34, at, "stroke=\"" + colour(series_[i]) + "\" stroke-width=\"2\"" + dash(series_[i]));
      svg += marker(marker_kind(series_[i]), x + 17, at, colour(series_[i]));
      svg += text_at(x + 42, at + 4, series_name(series_[i]), "");
    }
    return svg;
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
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
                    number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                    "\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"13\" role=\"img\">\n";
  const std::string title = "Modelled share of peak, " + result.device.target;
  svg += "<title>" + xml_text(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += text_at(margin, 28, title, "font-size=\"17\" font-weight=\"600\"");
  const std::string_view warning = model_warning;
  const std::size_t colon = warning.find(':');
  svg += text_at(margin, 52, warning.substr(0, colon + 1), "font-weight=\"600\" fill=\"#D55E00\"");
  svg += text_at(margin, 72, warning.substr(colon + 2), "fill=\"#333333\" font-size=\"12\"");
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const double x = name_width + bar_width * tenth / 10.0;
    svg += line(x, top_space - 8, x, axis_bottom, "stroke=\"#dddddd\"");
    svg += text_at(x, axis_bottom + 18, std::to_string(tenth * 10), "text-anchor=\"middle\" fill=\"#333333\"");
  }
  svg += text_at(name_width + bar_width / 2, axis_bottom + 40, "modelled share of the peak matrix rate, %",
                 "text-anchor=\"middle\"");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = top_space + bar_height * static_cast<double>(i);
    const bool fp8 = rows[i]->contender.ends_with("fp8");
    const double filled = bar_width * std::clamp(rows[i]->peak_share, 0.0, 1.0);
    svg += text_at(name_width - 8, y + 13, short_unit_name(rows[i]->kernel), "text-anchor=\"end\"");
    svg += "<rect x=\"" + number(name_width) + "\" y=\"" + number(y) + "\" width=\"" + number(filled) + "\" height=\"" +
           number(bar_height - 6) + "\" fill=\"" + (fp8 ? colours[1] : colours[0]) + "\"/>\n";
    svg += text_at(name_width + filled + 6, y + 13,
                   figure("%.0f %%", rows[i]->peak_share * 100.0) + (fp8 ? " (fp8 PV)" : ""), "fill=\"#333333\"");
  }
  return svg + "</svg>\n";
}

std::string table_row(const BenchRow& row) {
  const BenchShape& s = row.shape;
  const BenchSpread time = row.milliseconds.value_or(BenchSpread{});
  std::string cells;
  const auto cell = [&](const std::string& text, bool number_cell) {
    cells += std::string("<td") + (number_cell ? " class=\"n\"" : "") + ">" + xml_text(text) + "</td>";
  };
  cell(row.contender, false);
  cell(row.part == BenchPart::kernel ? "kernel alone" : "whole call", false);
  cell(std::to_string(s.batch) + " x " + std::to_string(s.heads) + " x " + std::to_string(s.tokens) + " x " +
           std::to_string(s.head_dim),
       true);
  cell(s.causal ? "causal" : "dense", false);
  if (!row.problem.empty()) {
    cells += "<td colspan=\"5\">no speed: " + xml_text(row.problem) + "</td>";
  } else {
    cell(figure("%.4f", time.median, "?"), true);
    cell(figure("%.4f", time.min, "?") + " to " + figure("%.4f", time.max, "?"), true);
    cell(figure("%.1f", row.tflops, "?"), true);
    cell(std::isfinite(row.peak_share) ? figure("%.0f %%", row.peak_share * 100) : "unknown", true);
    cell(row.accuracy ? figure("%.5f", row.accuracy->relative_l1, "?") : "", true);
  }
  cell(row.kernel, false);
  return "<tr>" + cells + "</tr>\n";
}

}  // namespace

std::string bench_svg(const BenchResult& result) {
  return result.origin == BenchOrigin::modelled ? model_svg(result) : SpeedPlot(result).text();
}

std::string bench_html(const BenchResult& result) {
  const std::string name = result.device.name.empty() ? result.device.target : result.device.name;
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Attention on " +
      xml_text(name) +
      "</title>\n<style>\n"
      "body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem; color: #222; "
      "background: #fff; }\n"
      "svg { max-width: 100%; height: auto; }\n.wide { overflow-x: auto; }\n"
      "table { border-collapse: collapse; font-size: 14px; }\nth, td { padding: 3px 10px; border-bottom: 1px solid "
      "#ddd; text-align: left; }\n"
      "td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n.warning { color: "
      "#b34700; font-weight: 600; }\n"
      "</style>\n</head>\n<body>\n<h1>Speed of attention</h1>\n";
  if (result.origin == BenchOrigin::modelled) html += "<p class=\"warning\">" + xml_text(model_warning) + "</p>\n";
  html += "<div class=\"wide\">" + bench_svg(result) + "</div>\n<h2>Figures</h2>\n<div class=\"wide\"><table>\n";
  html +=
      "<tr><th>what</th><th>part</th><th>B x H x N x D</th><th>mask</th><th>ms</th><th>min to "
      "max</th><th>TFLOPS</th><th>" +
      std::string(result.origin == BenchOrigin::modelled ? "modelled " : "") +
      "share of peak</th><th>rel. L1</th><th>kernel</th></tr>\n";
  for (const BenchRow& row : result.rows) html += table_row(row);
  html += "</table></div>\n";
  for (const std::string& note : result.notes) html += "<p>" + xml_text(note) + "</p>\n";
  return html + "</body>\n</html>\n";
}

}  // namespace sage
