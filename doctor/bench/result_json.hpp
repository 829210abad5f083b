#pragma once

#include <string>
#include <string_view>

#include "doctor/bench/result.hpp"
#include "probes/base/redaction.hpp"

namespace sage {

/// More than a result ever has.
inline constexpr std::size_t most_bench_bytes = std::size_t{16} << 20;

/// JSON with a line end (docs/bench-schema.json).
[[nodiscard]] std::string bench_json(const BenchResult& result, Redaction redaction);

/// The inverse, of any text. Errors name the place: not JSON, another version, a wrong type, a shape without tokens, a
/// speed beside numbers that are wrong.
[[nodiscard]] Result<BenchResult> bench_from_text(std::string_view text);

}  // namespace sage
