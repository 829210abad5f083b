#pragma once

#include <cstddef>
#include <string>

#include "doctor/inspect/inspection.hpp"

namespace sage {

struct InspectTextStyle {
  std::size_t width = 80;
  std::size_t most_kernels = 200;  ///< of the whole file; the rest is counted
};

/// The inspection for people. Control characters from the file never reach the terminal.
[[nodiscard]] std::string inspect_text(const Inspection& inspection, const InspectTextStyle& style);

}  // namespace sage
