#pragma once

#include <string>

#include "doctor/bench/result.hpp"

namespace sage {

/// The speeds over the number of tokens, a panel for each head dim and mask; of something modelled the shares of the
/// peak. A file of its own that needs nothing else: SVG, or HTML with the same picture and the figures as a table.
[[nodiscard]] std::string bench_svg(const BenchResult& result);
[[nodiscard]] std::string bench_html(const BenchResult& result);

}  // namespace sage
