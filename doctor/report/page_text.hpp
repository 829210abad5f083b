#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sage {

/// A page of docs/findings for a terminal of `width` columns: paragraphs and list items are broken anew, links between
/// pages become the id alone. Headings, tables and what stands between fences stay as they are, so that commands can
/// be pasted.
[[nodiscard]] std::string page_text(std::string_view page, std::size_t width);

}  // namespace sage
