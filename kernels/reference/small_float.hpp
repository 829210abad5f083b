// Rounding to small binary float formats, in double; independent of the emulator's own conversions.
#pragma once
#include <algorithm>
#include <cmath>

namespace sage::reference {

struct SmallFloat {
  int mantissa_bits;
  int lowest_exponent;  // of the smallest normal number
  double largest;       // saturates here
};

inline constexpr SmallFloat small_f16{10, -14, 65504.0};
inline constexpr SmallFloat small_f16_overflowing{10, -14, 1e30};
inline constexpr SmallFloat small_e4m3{3, -6, 448.0};
inline constexpr SmallFloat small_e4m3_fnuz{3, -7, 240.0};

inline double round_small(const double x, const SmallFloat& format) {
  if (x == 0.0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), format.lowest_exponent) - format.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return std::clamp(rounded, -format.largest, format.largest);
}

}  // namespace sage::reference
