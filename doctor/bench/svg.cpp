#include "doctor/bench/svg.hpp"

#include <array>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "doctor/report/escape.hpp"

namespace sage::svg {
namespace {

// Okabe and Ito's colours without the yellow, which white swallows: told apart with every kind of colour blindness.
// Shapes and dashes differ besides, for printers. For dark pages the same hues, lighter.
struct Colour {
  const char* light;
  const char* dark;
};
constexpr auto colours = std::to_array<Colour>({
    {"#0072B2", "#4FA8E8"},
    {"#D55E00", "#FF8A4C"},
    {"#009E73", "#2FC79A"},
    {"#000000", "#F0F0F0"},
    {"#CC79A7", "#E79FC6"},
    {"#E69F00", "#F4BC42"},
    {"#56B4E9", "#A9DCF8"},
});
constexpr std::size_t marker_count = 5;

std::string series_class(std::size_t series) {
  return "s" + std::to_string(series % colours.size());
}

}  // namespace

std::string number(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string dark_rules() {
  std::string rules =
      "@media (prefers-color-scheme: dark) {\n.page { fill: #16181c; }\n.ink { fill: #e6e6e6; }\n.pale { fill: "
      "#a8adb5; }\n.warn { fill: #ffa36b; }\n.axis { stroke: #b5bac2; }\n.grid { stroke: #363a42; }\n";
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const std::string name = series_class(i);
    rules += "." + name + "f { fill: " + colours[i].dark + "; }\n." + name + "l { stroke: " + colours[i].dark + "; }\n";
  }
  return rules + "}\n";
}

std::string open(double width, double height, std::string_view title, bool with_style) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
         "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
         "\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"13\" role=\"img\">\n<title>" +
         xml_text(title) + "</title>\n" + (with_style ? "<style>\n" + dark_rules() + "</style>\n" : "") +
         "<rect width=\"100%\" height=\"100%\" class=\"page\" fill=\"#ffffff\"/>\n";
}

std::string series_fill(std::size_t series) {
  return "class=\"" + series_class(series) + "f\" fill=\"" + colours[series % colours.size()].light + "\"";
}

std::string series_stroke(std::size_t series) {
  return "class=\"" + series_class(series) + "l\" stroke=\"" + colours[series % colours.size()].light + "\"";
}

std::string text_at(double x, double y, std::string_view text, std::string_view more) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + std::string(more) + ">" + xml_text(text) +
         "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view more) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" " + std::string(more) + "/>\n";
}

std::string marker(std::size_t series, double x, double y) {
  constexpr double r = 4.5;
  const std::string fill = series_fill(series);
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> points) {
    std::string text = "<polygon points=\"";
    for (const auto& [dx, dy] : points) text += number(x + dx * r) + "," + number(y + dy * r) + " ";
    return text + "\" " + fill + "/>\n";
  };
  switch (series % marker_count) {
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

}  // namespace sage::svg
