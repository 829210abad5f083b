// Number formats and vector types that the emulated builtins speak. No compiler half type: g++-11 has none in C++.
#pragma once
#include <cstdint>
#include <cstring>

namespace sage_emulator {

// Same names and sizes as the device text expects from a GPU compiler. Halves are bit patterns.
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x16 __attribute__((vector_size(64)));
typedef int i32x2 __attribute__((vector_size(8)));
typedef int i32x4 __attribute__((vector_size(16)));
typedef int i32x8 __attribute__((vector_size(32)));
typedef int i32x16 __attribute__((vector_size(64)));
template <unsigned N>
struct HalfVector {
  std::uint16_t x[N];
};
using f16x2 = HalfVector<2>;
using f16x4 = HalfVector<4>;
using f16x8 = HalfVector<8>;
using f16x16 = HalfVector<16>;

inline std::uint32_t float_bits(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
inline float bits_float(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

// Branch free, so that loops over it vectorise: the exponent is moved by a multiplication, which also normalises subnormals.
inline float f16_to_f32(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffu;
  const float scaled = bits_float(magnitude << 13) * 0x1p112f;
  const std::uint32_t special = magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  return bits_float(float_bits(scaled) | special | static_cast<std::uint32_t>(half & 0x8000u) << 16);
}

enum class Rounding { nearest_even, toward_zero };

// A small binary float format: `mantissa` explicit bits, exponent bias, largest finite value.
struct SmallFormat {
  int mantissa;
  int bias;
  float largest;
};

// Rounds |x| to a multiple of the format's spacing at x; exact in double.
float round_to_format(float x, const SmallFormat& format, Rounding rounding);

std::uint16_t f32_to_f16(float x, Rounding rounding = Rounding::nearest_even);

enum class Fp8 { ocp, fnuz };
enum class Overflow { nan, saturate };
std::uint8_t f32_to_fp8(float x, Fp8 format, Overflow overflow);
float fp8_to_f32(std::uint8_t x, Fp8 format);

}  // namespace sage_emulator
