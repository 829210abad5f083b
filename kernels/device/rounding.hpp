// Constants of the int8 products and the rounding of their scales; attention.hpp says why they are these.

namespace sage_device {

constexpr int kMagicBits = 0x4b400000;
constexpr float kMagic = 12582912.0f;
constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLargest = 3.3895314e38f;  // largest bf16: K minus its mean stays finite
constexpr int kKeysPerScale = 32;

// Up, to 10 significant bits: |x / scale| stays at or below 127, so nothing is clamped.
SAGE_FN float round_scale(const float x) {
  const u32 bits = (bits_as<u32>(x) + 0x3fffu) & ~0x3fffu;
  // 2^-60 keeps every product of two scales above zero: a masked score is -inf * c. The upper end keeps it finite.
  return bits_as<float>(maximum(minimum(bits, 0x7f7fc000u), 0x21800000u));
}

}  // namespace sage_device
