#include "limits.hpp"

#include <algorithm>
#include <array>

namespace sage::gates {
namespace {

constexpr auto rows = std::to_array<Limit>({
    {"gfx1201", "sage_attention_d64_F16_LONG", 119, 341, 0},
    {"gfx1201", "sage_attention_d64_F16_SHORT", 126, 351, 306},
    {"gfx1201", "sage_attention_d96_F16_LONG", 150, 418, 0},
    {"gfx1201", "sage_attention_d96_F16_SHORT", 167, 440, 0},
    {"gfx1201", "sage_attention_d128_F16_LONG", 172, 474, 427},
    {"gfx1201", "sage_attention_d128_F16_SHORT", 188, 486, 437},
    {"gfx1201", "sage_attention_d256_F16_LONG", 256, 483, 453},
    {"gfx1201", "sage_attention_d256_F16_SHORT", 256, 483, 453},
    {"gfx1201", "sage_attention_d64_FP8_LONG", 110, 331, 0},
    {"gfx1201", "sage_attention_d64_FP8_SHORT", 114, 332, 0},
    {"gfx1201", "sage_attention_d96_FP8_LONG", 144, 385, 0},
    {"gfx1201", "sage_attention_d96_FP8_SHORT", 154, 408, 0},
    {"gfx1201", "sage_attention_d128_FP8_LONG", 166, 435, 390},
    {"gfx1201", "sage_attention_d128_FP8_SHORT", 177, 458, 400},
    {"gfx1201", "sage_attention_d256_FP8_LONG", 243, 451, 410},
    {"gfx1201", "sage_attention_d256_FP8_SHORT", 243, 451, 410},
    {"gfx1100", "sage_attention_d64_F16_LONG", 138, 445, 0},
    {"gfx1100", "sage_attention_d64_F16_SHORT", 147, 465, 397},
    {"gfx1100", "sage_attention_d96_F16_LONG", 172, 529, 0},
    {"gfx1100", "sage_attention_d96_F16_SHORT", 155, 334, 0},
    {"gfx1100", "sage_attention_d128_F16_LONG", 197, 614, 546},
    {"gfx1100", "sage_attention_d128_F16_SHORT", 182, 386, 338},
    {"gfx1100", "sage_attention_d256_F16_LONG", 256, 560, 534},
    {"gfx1100", "sage_attention_d256_F16_SHORT", 256, 560, 534},
    {"gfx90a", "sage_attention_d64_F16_LONG", 117, 299, 0},
    {"gfx90a", "sage_attention_d64_F16_SHORT", 117, 299, 0},
    {"gfx90a", "sage_attention_d96_F16_LONG", 153, 357, 0},
    {"gfx90a", "sage_attention_d96_F16_SHORT", 153, 357, 0},
    {"gfx90a", "sage_attention_d128_F16_LONG", 175, 387, 0},
    {"gfx90a", "sage_attention_d128_F16_SHORT", 175, 387, 0},
    {"gfx90a", "sage_attention_d256_F16_LONG", 387, 626, 0},
    {"gfx90a", "sage_attention_d256_F16_SHORT", 387, 626, 0},
    {"gfx942", "sage_attention_d64_F16_LONG", 123, 291, 0},
    {"gfx942", "sage_attention_d64_F16_SHORT", 123, 291, 0},
    {"gfx942", "sage_attention_d96_F16_LONG", 163, 342, 0},
    {"gfx942", "sage_attention_d96_F16_SHORT", 163, 342, 0},
    {"gfx942", "sage_attention_d128_F16_LONG", 185, 374, 0},
    {"gfx942", "sage_attention_d128_F16_SHORT", 185, 374, 0},
    {"gfx942", "sage_attention_d256_F16_LONG", 395, 614, 0},
    {"gfx942", "sage_attention_d256_F16_SHORT", 395, 614, 0},
    {"gfx942", "sage_attention_d64_FP8_LONG", 113, 333, 0},
    {"gfx942", "sage_attention_d64_FP8_SHORT", 113, 333, 0},
    {"gfx942", "sage_attention_d96_FP8_LONG", 149, 387, 0},
    {"gfx942", "sage_attention_d96_FP8_SHORT", 149, 387, 0},
    {"gfx942", "sage_attention_d128_FP8_LONG", 173, 410, 0},
    {"gfx942", "sage_attention_d128_FP8_SHORT", 173, 410, 0},
    {"gfx942", "sage_attention_d256_FP8_LONG", 379, 622, 0},
    {"gfx942", "sage_attention_d256_FP8_SHORT", 379, 622, 0},
});

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
