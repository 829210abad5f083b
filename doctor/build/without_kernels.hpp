#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/gfx_tables.hpp"

namespace sage {

/// Why there are no kernels for a target, and what gives fast attention there instead. Sentences.
struct WithoutKernels {
  std::string reason;
  std::vector<std::string> advice;
};

/// `target`: one that units_of() does not know; any text. Sources: facts/gfx.md 5, facts/sage.md 5 and 9.
[[nodiscard]] WithoutKernels without_kernels(std::string_view target, const GfxTables& tables);

}  // namespace sage
