#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sage {

// Text from the machine as text of a format: whatever it holds, it is shown and does nothing. All of them make it
// printable() first: one line of UTF-8 without control characters.

/// For XML 1.0 and HTML, inside elements and inside attributes in double quotes.
[[nodiscard]] std::string xml_text(std::string_view text);

/// For GitHub's Markdown, within a line, a list item or a cell of a table: no markup, no HTML, no link, no formula, no
/// mention of a person (@name), of an issue (#12, GH-12) or a :smile:.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// The same as a span of code, outside of tables, where backticks and pipes stay as they are. Empty text is empty.
[[nodiscard]] std::string markdown_code(std::string_view text);

/// Lines as a block of code, each printable by itself, whatever backticks they have. Ends with a line end.
[[nodiscard]] std::string markdown_block(std::string_view language, const std::vector<std::string>& lines);

/// The path of a URI: what is no letter, digit or one of "-._~/" is percent-encoded, byte by byte. Not made printable:
/// a path is its bytes.
[[nodiscard]] std::string uri_path(std::string_view path);

/// A message of SARIF (2.1.0, 3.11.5 and 3.11.6): braces would be placeholders, and "[x](y)" a link.
[[nodiscard]] std::string sarif_text(std::string_view text);

}  // namespace sage
