#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sage {

/// Text that is safe to print: control characters (escape sequences among them), those that turn the direction of
/// writing, and bytes that are not UTF-8 become '?', line ends and tabs a blank.
[[nodiscard]] std::string printable(std::string_view text);

/// Columns that printable text takes: one for each code point.
[[nodiscard]] std::size_t columns(std::string_view text);

/// `text` with blanks behind it or before it up to `width` columns; as it is where it has more.
[[nodiscard]] std::string left_aligned(std::string_view text, std::size_t width);
[[nodiscard]] std::string right_aligned(std::string_view text, std::size_t width);

/// `text` broken at blanks into lines of at most `width` columns. The first line begins with `first`, the others with
/// `rest`; both count. A word that is longer than a line stands alone and whole: paths and commands must stay
/// pasteable. Ends with a line end.
[[nodiscard]] std::string wrapped(std::string_view text, std::string_view first, std::string_view rest,
                                  std::size_t width);

}  // namespace sage
