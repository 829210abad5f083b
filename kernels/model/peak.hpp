// The most that a GPU's matrix units could do, from instruction rates, units and clock: what a measured speed is a share of.
#pragma once

#include <optional>
#include <string_view>

#include "device/plan.hpp"

namespace sage::model {

// Operations (a product and a sum are two) per compute unit (AMD) or multiprocessor (NVIDIA) and clock.
struct MatrixRate {
  int int8 = 0;
  int f16 = 0;
  int fp8 = 0;  // 0: no such instruction
};

// `target`: "gfx1201", "sm_90". Empty where the rates are not known.
[[nodiscard]] std::optional<MatrixRate> matrix_rate(std::string_view target);

// TFLOPS of attention whose first product runs at the int8 rate and whose second at that of `pv`, both at full speed all
// the time: half of the operations each. Empty where the rate is not known or there is none.
[[nodiscard]] std::optional<double> attention_peak(std::string_view target, device::PvType pv, double units, double mhz);

}  // namespace sage::model
