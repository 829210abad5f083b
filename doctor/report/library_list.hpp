#pragma once

#include <cstddef>
#include <string>

#include "probes/base/redaction.hpp"
#include "probes/facts/libraries.hpp"

namespace sage {

/// The copies of the runtime libraries, and which of them processes of several kinds end up with.
[[nodiscard]] std::string library_list_text(const Libraries& libraries, std::size_t width);

/// The facts, as in the report of `check --json`.
[[nodiscard]] std::string library_list_json(const Libraries& libraries, Redaction redaction);

}  // namespace sage
