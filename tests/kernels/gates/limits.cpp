#include "limits.hpp"

#include <algorithm>
#include <array>

namespace sage::gates {
namespace {

constexpr auto rows = std::to_array<Limit>({
    {"gfx1201", "sage_attention_d64_F16_LONG", 126, 301, 0},
    {"gfx1201", "sage_attention_d64_F16_SHORT", 132, 306, 306},
    {"gfx1201", "sage_attention_d96_F16_LONG", 156, 368, 0},
    {"gfx1201", "sage_attention_d96_F16_SHORT", 168, 385, 0},
    {"gfx1201", "sage_attention_d128_F16_LONG", 177, 415, 427},
    {"gfx1201", "sage_attention_d128_F16_SHORT", 189, 425, 437},
    {"gfx1201", "sage_attention_d256_F16_LONG", 248, 410, 453},
    {"gfx1201", "sage_attention_d256_F16_SHORT", 248, 410, 453},
    {"gfx1201", "sage_attention_d64_FP8_LONG", 117, 276, 0},
    {"gfx1201", "sage_attention_d64_FP8_SHORT", 121, 279, 0},
    {"gfx1201", "sage_attention_d96_FP8_LONG", 151, 329, 0},
    {"gfx1201", "sage_attention_d96_FP8_SHORT", 159, 344, 0},
    {"gfx1201", "sage_attention_d128_FP8_LONG", 173, 367, 390},
    {"gfx1201", "sage_attention_d128_FP8_SHORT", 181, 382, 400},
    {"gfx1201", "sage_attention_d256_FP8_LONG", 238, 369, 410},
    {"gfx1201", "sage_attention_d256_FP8_SHORT", 238, 369, 410},
    {"gfx1100", "sage_attention_d64_F16_LONG", 141, 392, 0},
    {"gfx1100", "sage_attention_d64_F16_SHORT", 147, 397, 397},
    {"gfx1100", "sage_attention_d96_F16_LONG", 173, 471, 0},
    {"gfx1100", "sage_attention_d96_F16_SHORT", 160, 288, 0},
    {"gfx1100", "sage_attention_d128_F16_LONG", 199, 538, 546},
    {"gfx1100", "sage_attention_d128_F16_SHORT", 185, 328, 338},
    {"gfx1100", "sage_attention_d256_F16_LONG", 256, 483, 534},
    {"gfx1100", "sage_attention_d256_F16_SHORT", 256, 483, 534},
    {"gfx90a", "sage_attention_d64_F16_LONG", 116, 285, 0},
    {"gfx90a", "sage_attention_d64_F16_SHORT", 116, 285, 0},
    {"gfx90a", "sage_attention_d96_F16_LONG", 149, 335, 0},
    {"gfx90a", "sage_attention_d96_F16_SHORT", 149, 335, 0},
    {"gfx90a", "sage_attention_d128_F16_LONG", 170, 374, 0},
    {"gfx90a", "sage_attention_d128_F16_SHORT", 170, 374, 0},
    {"gfx90a", "sage_attention_d256_F16_LONG", 383, 615, 0},
    {"gfx90a", "sage_attention_d256_F16_SHORT", 383, 615, 0},
    {"gfx942", "sage_attention_d64_F16_LONG", 119, 280, 0},
    {"gfx942", "sage_attention_d64_F16_SHORT", 119, 280, 0},
    {"gfx942", "sage_attention_d96_F16_LONG", 152, 327, 0},
    {"gfx942", "sage_attention_d96_F16_SHORT", 152, 327, 0},
    {"gfx942", "sage_attention_d128_F16_LONG", 173, 365, 0},
    {"gfx942", "sage_attention_d128_F16_SHORT", 173, 365, 0},
    {"gfx942", "sage_attention_d256_F16_LONG", 383, 607, 0},
    {"gfx942", "sage_attention_d256_F16_SHORT", 383, 607, 0},
    {"gfx942", "sage_attention_d64_FP8_LONG", 115, 317, 0},
    {"gfx942", "sage_attention_d64_FP8_SHORT", 115, 317, 0},
    {"gfx942", "sage_attention_d96_FP8_LONG", 144, 361, 0},
    {"gfx942", "sage_attention_d96_FP8_SHORT", 144, 361, 0},
    {"gfx942", "sage_attention_d128_FP8_LONG", 165, 391, 0},
    {"gfx942", "sage_attention_d128_FP8_SHORT", 165, 391, 0},
    {"gfx942", "sage_attention_d256_FP8_LONG", 374, 608, 0},
    {"gfx942", "sage_attention_d256_FP8_SHORT", 374, 608, 0},
});

static_assert(std::all_of(rows.begin(), rows.end(),
                          [](const Limit& row) { return row.goal == 0 || row.slots <= row.goal; }),
              "the figure of the trial kernel is the most that a row may allow");

}  // namespace

std::span<const Limit> limits() {
  return rows;
}

const Limit* find_limit(std::string_view target, std::string_view kernel) {
  const auto* const found = std::find_if(
      rows.begin(), rows.end(), [&](const Limit& row) { return row.target == target && row.kernel == kernel; });
  return found == rows.end() ? nullptr : found;
}

}  // namespace sage::gates
