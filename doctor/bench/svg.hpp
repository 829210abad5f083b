#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The little of SVG that the plots of a benchmark are made of. Every element has its colour for a light page as an
// attribute, which every viewer understands, and a class, by which a style turns it into one for a dark page where the
// reader has that.

namespace sage::svg {

/// "12.50".
[[nodiscard]] std::string number(double value);

/// A background, a title for those who can't see it, and the style for dark pages unless the page around has it.
[[nodiscard]] std::string open(double width, double height, std::string_view title, bool with_style = true);

/// Colours of text and axes, and of the thin lines behind a plot.
inline constexpr std::string_view ink = "class=\"ink\" fill=\"#222222\"";
inline constexpr std::string_view pale_ink = "class=\"pale\" fill=\"#555555\"";
inline constexpr std::string_view warning_ink = "class=\"warn\" fill=\"#b34700\"";
inline constexpr std::string_view axis = "class=\"axis\" stroke=\"#333333\"";
inline constexpr std::string_view grid = "class=\"grid\" stroke=\"#dddddd\"";

/// Of one series among several: they repeat after the seventh.
[[nodiscard]] std::string series_fill(std::size_t series);
[[nodiscard]] std::string series_stroke(std::size_t series);

/// The rules behind the classes, for a page that has pictures inside.
[[nodiscard]] std::string dark_rules();

[[nodiscard]] std::string text_at(double x, double y, std::string_view text, std::string_view more);
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, std::string_view more);
[[nodiscard]] std::string marker(std::size_t series, double x, double y);

}  // namespace sage::svg
