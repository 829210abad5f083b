// The PTX instructions that the device text uses on NVIDIA, implemented from the PTX ISA's fragment tables.
//
// A lane is l = 4 g + t. mma m16n8: A registers hold, per row g and g + 8, `width` neighbouring k at width * t, then the same
// beyond half of k; B registers the same for column g; C registers columns 2t, 2t + 1 of rows g and g + 8.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "amd_builtins.hpp"
#include "machine.hpp"
#include "matrix.hpp"
#include "types.hpp"

namespace sage_emulator {

typedef std::uint32_t ptx_u32x4 __attribute__((vector_size(16)));

struct WarpIn {
  std::uint32_t a[4];
  std::uint32_t b[2];
  std::uint32_t c[4];
};
struct WarpOut {
  std::uint32_t d[4];
};

// Element is std::int8_t, HalfElement or Fp8Element; K = 32 for bytes, 16 for halves.
template <class Element, int K>
struct WarpMatrix {
  using In = WarpIn;
  using Out = WarpOut;
  using Type = typename Element::Type;
  static constexpr int width = 4 / static_cast<int>(sizeof(Type));  // elements per register
  static void apply(const In* const* in, Out* const* out, int, Report&) {
    typename Element::Value a[16][K];
    typename Element::Value b[Element::b_rows(K)][Element::b_columns(K)];
    typename Element::Sum d[16][8];
    for (int l = 0; l < 32; ++l) {
      const int g = l / 4;
      const int t = l % 4;
      for (int r = 0; r < 4; ++r) {
        Type elements[width];
        std::memcpy(elements, &in[l]->a[r], 4);
        for (int e = 0; e < width; ++e) a[g + r % 2 * 8][r / 2 * (K / 2) + width * t + e] = Element::value(elements[e]);
        std::memcpy(&d[g + r / 2 * 8][2 * t + r % 2], &in[l]->c[r], 4);
      }
      for (int r = 0; r < 2; ++r) {
        Type elements[width];
        std::memcpy(elements, &in[l]->b[r], 4);
        for (int e = 0; e < width; ++e) Element::set_b(b, r * (K / 2) + width * t + e, g, Element::value(elements[e]));
      }
    }
    multiply_add(a, b, d);
    for (int l = 0; l < 32; ++l) {
      for (int r = 0; r < 4; ++r) std::memcpy(&out[l]->d[r], &d[l / 4 + r / 2 * 8][2 * (l % 4) + r % 2], 4);
    }
  }
};

struct WarpInteger {
  using Type = std::int8_t;
  using Value = std::int16_t;
  using Sum = std::int32_t;
  static constexpr int b_rows(int) { return 8; }
  static constexpr int b_columns(int k) { return k; }
  static Value value(Type x) { return x; }
  template <class B>
  static void set_b(B& b, int k, int n, Value x) {
    b[n][k] = x;
  }
};
template <class Base>
struct WarpFloat {
  using Type = typename Base::Type;
  using Value = float;
  using Sum = float;
  static constexpr int b_rows(int k) { return k; }
  static constexpr int b_columns(int) { return 8; }
  static Value value(Type x) { return Base::value(x); }
  template <class B>
  static void set_b(B& b, int k, int n, Value x) {
    b[k][n] = x;
  }
};

template <class Op, class C>
void warp_matrix(C (&c)[4], const ptx_u32x4& a, std::uint32_t b0, std::uint32_t b1) {
  WarpIn in;
  for (int i = 0; i < 4; ++i) in.a[i] = a[i];
  in.b[0] = b0;
  in.b[1] = b1;
  std::memcpy(in.c, c, 16);
  const WarpOut out = collect<Op>(in);
  std::memcpy(c, out.d, 16);
}

inline std::uint32_t ptx_thread_id() { return static_cast<std::uint32_t>(thread_id()); }
inline std::uint32_t ptx_block_id() { return static_cast<std::uint32_t>(workgroup_id()); }
inline std::uint32_t ptx_opaque(std::uint32_t x) { return x; }
inline void ptx_sync() { barrier(); }
inline void ptx_warp_sync() {}  // lanes of a warp already run together wherever it matters: they exchange only by instructions
inline float ptx_ex2(float x) { return x < -126.0F ? 0.0F : std::exp2(x); }  // .ftz
inline float ptx_lg2(float x) { return std::log2(x); }
inline float ptx_rcp(float x) { return 1.0F / x; }
inline float ptx_ceil(float x) { return std::ceil(x); }
inline std::uint32_t ptx_cvt_f16x2(float low, float high) {
  return f32_to_f16(low) | static_cast<std::uint32_t>(f32_to_f16(high)) << 16;
}
inline std::uint16_t ptx_cvt_to_f16(float x) { return f32_to_f16(x); }
inline float ptx_cvt_to_f32(std::uint16_t x) { return f16_to_f32(x); }
inline std::uint32_t ptx_cvt_e4m3x2(float low, float high) {  // satfinite
  return f32_to_fp8(low, Fp8::ocp, Overflow::saturate) |
         static_cast<std::uint32_t>(f32_to_fp8(high, Fp8::ocp, Overflow::saturate)) << 8;
}

inline std::uint32_t ptx_cvt_e4m3x2_to_f16x2(std::uint16_t x) {
  return ptx_cvt_f16x2(fp8_to_f32(static_cast<std::uint8_t>(x), Fp8::ocp), fp8_to_f32(static_cast<std::uint8_t>(x >> 8), Fp8::ocp));
}

struct ShuffleXor {
  struct In {
    std::uint32_t value;
    int mask;
  };
  using Out = std::uint32_t;
  static void apply(const In* const* in, Out* const* out, int count, Report&) {
    for (int l = 0; l < count; ++l) *out[l] = in[l ^ in[l]->mask]->value;
  }
};
inline std::uint32_t ptx_shfl_xor(std::uint32_t x, int mask) { return collect<ShuffleXor>({x, mask}); }
inline bool ptx_any(bool x) { return collect<Ballot>(x) != 0; }

// Lane l names the 16-byte row l % 8 of matrix l / 8; it receives, of every matrix, word t of row g.
struct LoadMatrix {
  using In = ptx_u32x4;
  using Out = ptx_u32x4;
  static void apply(const In* const* in, Out* const* out, int, Report&) {
    for (int l = 0; l < 32; ++l) {
      for (int matrix = 0; matrix < 4; ++matrix) (*out[l])[matrix] = (*in[8 * matrix + l / 4])[l % 4];
    }
  }
};
inline ptx_u32x4 ptx_ldmatrix_x4(std::uint32_t at) { return collect<LoadMatrix>(shared_load<ptx_u32x4>(at)); }

inline void ptx_cp_async_16(std::uint32_t to, const void* from) { async_copy(to, from, 16); }
inline void ptx_cp_async_commit() {}
inline void ptx_cp_async_wait_all() { async_wait(); }

inline void ptx_mma_s8(int (&c)[4], const ptx_u32x4& a, std::uint32_t b0, std::uint32_t b1) {
  warp_matrix<WarpMatrix<WarpInteger, 32>>(c, a, b0, b1);
}
inline void ptx_mma_f16(float (&c)[4], const ptx_u32x4& a, std::uint32_t b0, std::uint32_t b1) {
  warp_matrix<WarpMatrix<WarpFloat<HalfElement>, 16>>(c, a, b0, b1);
}
inline void ptx_mma_e4m3(float (&c)[4], const ptx_u32x4& a, std::uint32_t b0, std::uint32_t b1) {
  warp_matrix<WarpMatrix<WarpFloat<Fp8Element>, 32>>(c, a, b0, b1);
}

}  // namespace sage_emulator
