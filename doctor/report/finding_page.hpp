#pragma once

#include <string>
#include <string_view>

namespace sage {

/// docs/findings/ID.md as it is inside the program; empty when there is none.
[[nodiscard]] std::string_view finding_page(std::string_view id);

/// The first paragraph of a page's "What it means", on one line.
[[nodiscard]] std::string meaning_of(std::string_view page);

}  // namespace sage
