#include "types.hpp"

#include <array>
#include <cmath>

namespace sage_emulator {

float round_to_format(const float x, const SmallFormat& format, const Rounding rounding) {
  if (x == 0.0F || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| in [2^(exponent-1), 2^exponent)
  const int lowest = 1 - format.bias;
  const int spacing = std::max(exponent - 1, lowest) - format.mantissa;
  const double steps = std::ldexp(static_cast<double>(x), -spacing);
  const double whole = rounding == Rounding::toward_zero ? std::trunc(steps) : std::nearbyint(steps);
  return static_cast<float>(std::ldexp(whole, spacing));
}

std::uint16_t f32_to_f16(const float x, const Rounding rounding) {
  const std::uint32_t bits = float_bits(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude == 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {  // below 2^-14: a multiple of 2^-24
    const float steps = bits_float(magnitude) * 0x1p24F;
    const float whole = rounding == Rounding::toward_zero ? std::floor(steps) : std::nearbyint(steps);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(whole));
  }
  const std::uint32_t round = rounding == Rounding::toward_zero ? 0U : 0xfffU + (magnitude >> 13 & 1U);
  const std::uint32_t half = (magnitude + round - 0x38000000U) >> 13;
  if (half >= 0x7c00U) return static_cast<std::uint16_t>(sign | (rounding == Rounding::toward_zero ? 0x7bffU : 0x7c00U));
  return static_cast<std::uint16_t>(sign | half);
}

std::uint8_t f32_to_fp8(const float x, const Fp8 format, const Overflow overflow) {
  // e4m3. OCP: bias 7, 448 = 0x7e, NaN 0x7f and 0xff. FNUZ: bias 8, 240 = 0x7f, NaN 0x80, no negative zero.
  const SmallFormat shape = format == Fp8::ocp ? SmallFormat{3, 7, 448.0F} : SmallFormat{3, 8, 240.0F};
  const auto not_a_number = static_cast<std::uint8_t>(format == Fp8::ocp ? 0x7f : 0x80);
  if (std::isnan(x)) return not_a_number;
  float magnitude = std::fabs(x);
  if (magnitude > shape.largest) {
    if (overflow == Overflow::nan) return not_a_number;
    magnitude = shape.largest;
  }
  const float rounded = round_to_format(magnitude, shape, Rounding::nearest_even);
  std::uint8_t code = 0;
  if (rounded > 0.0F) {
    int exponent = 0;
    const float fraction = std::frexp(rounded, &exponent);
    const int biased = exponent - 1 + shape.bias;
    if (biased >= 1) {
      code = static_cast<std::uint8_t>(biased << 3 | (static_cast<int>(fraction * 16.0F) & 7));
    } else {
      code = static_cast<std::uint8_t>(std::ldexp(rounded, shape.bias - 1 + 3));
    }
  }
  if (format == Fp8::fnuz && code == 0) return 0;
  return static_cast<std::uint8_t>(code | (std::signbit(x) ? 0x80 : 0));
}

namespace {
std::array<float, 256> fp8_table(const Fp8 format) {
  std::array<float, 256> table{};
  const int bias = format == Fp8::ocp ? 7 : 8;
  for (int code = 0; code < 256; ++code) {
    const int exponent = code >> 3 & 15;
    const int mantissa = code & 7;
    float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - bias - 3)
                                : std::ldexp(static_cast<float>(8 + mantissa), exponent - bias - 3);
    if (format == Fp8::ocp && (code & 0x7f) == 0x7f) value = NAN;
    if (format == Fp8::fnuz && code == 0x80) value = NAN;
    table[static_cast<std::size_t>(code)] = (code & 0x80) != 0 ? -value : value;
  }
  return table;
}
}  // namespace

float fp8_to_f32(const std::uint8_t x, const Fp8 format) {
  static const std::array<float, 256> ocp = fp8_table(Fp8::ocp);
  static const std::array<float, 256> fnuz = fp8_table(Fp8::fnuz);
  return format == Fp8::ocp ? ocp[x] : fnuz[x];
}

}  // namespace sage_emulator
