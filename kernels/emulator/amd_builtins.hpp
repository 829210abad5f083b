// The AMD builtins that the device text calls, implemented from the published lane tables.
//
// Lane tables: AMD matrix instruction calculator. For every matrix instruction `row(l, s)` / `k(l, s)` below say which element of
// A the element s of lane l's operand is; B is the same with rows and columns exchanged; `out_row(l, r)` is the row of result
// register r, its column is the lane's row index. Signedness flags, operand order and rounding are part of the emulation.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "machine.hpp"
#include "matrix.hpp"
#include "types.hpp"

namespace sage_emulator {

#if defined(SAGE_EMULATED_GFX942)
constexpr Fp8 device_fp8 = Fp8::fnuz;
#else
constexpr Fp8 device_fp8 = Fp8::ocp;
#endif

// ---- Lane tables.
struct Gfx12Bytes {  // iu8, fp8: 8 bytes per lane
  static constexpr int lanes = 32, size = 16, k_size = 16, elements = 8, results = 8;
  static constexpr bool duplicated = false;
  static constexpr int row(int l) { return l % 16; }
  static constexpr int k(int l, int s) { return 8 * (l / 16) + s; }
  static constexpr int out_row(int l, int r) { return 8 * (l / 16) + r; }
};
struct Gfx12Halves {  // f16: 8 halves per lane; lanes 0-15 hold k 0-3 and 8-11, lanes 16-31 hold 4-7 and 12-15
  static constexpr int lanes = 32, size = 16, k_size = 16, elements = 8, results = 8;
  static constexpr bool duplicated = false;
  static constexpr int row(int l) { return l % 16; }
  static constexpr int k(int l, int s) { return 8 * (s / 4) + 4 * (l / 16) + s % 4; }
  static constexpr int out_row(int l, int r) { return 8 * (l / 16) + r; }
};
struct Gfx11Full {  // iu8 and f16: a lane holds all 16 k; lanes 16-31 must repeat lanes 0-15
  static constexpr int lanes = 32, size = 16, k_size = 16, elements = 16, results = 8;
  static constexpr bool duplicated = true;
  static constexpr int row(int l) { return l % 16; }
  static constexpr int k(int, int s) { return s; }
  static constexpr int out_row(int l, int r) { return 2 * r + l / 16; }
};
template <int kElements>
struct Mfma32 {  // 32x32: i8 x8 (gfx90a, 4 bytes), i8 and fp8 x16 (gfx942, 8 bytes), f16 x8 (4 halves)
  static constexpr int lanes = 64, size = 32, k_size = 2 * kElements, elements = kElements, results = 16;
  static constexpr bool duplicated = false;
  static constexpr int row(int l) { return l % 32; }
  static constexpr int k(int l, int s) { return kElements * (l / 32) + s; }
  static constexpr int out_row(int l, int r) { return 8 * (r / 4) + 4 * (l / 32) + r % 4; }
};

template <class Table, class Element>
struct MatrixIn {
  Element a[Table::elements];
  Element b[Table::elements];
  std::uint32_t c[Table::results];
  bool a_signed;
  bool b_signed;
  bool clamp;
};
template <class Table>
struct MatrixOut {
  std::uint32_t d[Table::results];
};

// gfx11: hardware reads both lane halves.
template <class Table, class In>
void check_duplicates(const In* const* in, Report& report) {
  for (int l = 0; l < 16; ++l) {
    if (std::memcmp(in[l]->a, in[l + 16]->a, sizeof(in[l]->a)) != 0 || std::memcmp(in[l]->b, in[l + 16]->b, sizeof(in[l]->b)) != 0) {
      report.add("gfx11 matrix operand: lane " + std::to_string(l + 16) + " does not repeat lane " + std::to_string(l));
      return;
    }
  }
}

template <class Table>
struct IntegerMatrix {
  using In = MatrixIn<Table, std::uint8_t>;
  using Out = MatrixOut<Table>;
  static std::int16_t widen(std::uint8_t x, bool is_signed) {
    return is_signed ? static_cast<std::int16_t>(static_cast<std::int8_t>(x)) : static_cast<std::int16_t>(x);
  }
  static void apply(const In* const* in, Out* const* out, int count, Report& report) {
    if (count != Table::lanes) return report.add("matrix instruction in a partial wave");
    if constexpr (Table::duplicated) check_duplicates<Table>(in, report);
    std::int16_t a[Table::size][Table::k_size];
    std::int16_t b[Table::size][Table::k_size];
    std::int32_t d[Table::size][Table::size];
    for (int l = 0; l < Table::lanes; ++l) {
      for (int s = 0; s < Table::elements; ++s) {
        a[Table::row(l)][Table::k(l, s)] = widen(in[l]->a[s], in[l]->a_signed);
        b[Table::row(l)][Table::k(l, s)] = widen(in[l]->b[s], in[l]->b_signed);
      }
      for (int r = 0; r < Table::results; ++r) d[Table::out_row(l, r)][Table::row(l)] = static_cast<std::int32_t>(in[l]->c[r]);
    }
    multiply_add(a, b, d);
    for (int l = 0; l < Table::lanes; ++l) {
      for (int r = 0; r < Table::results; ++r) {
        out[l]->d[r] = static_cast<std::uint32_t>(d[Table::out_row(l, r)][Table::row(l)]);
      }
    }
  }
};

struct HalfElement {
  using Type = std::uint16_t;
  static float value(std::uint16_t x) { return f16_to_f32(x); }
};
struct Fp8Element {
  using Type = std::uint8_t;
  static float value(std::uint8_t x) { return fp8_to_f32(x, device_fp8); }
};

template <class Table, class Element>
struct FloatMatrix {
  using In = MatrixIn<Table, typename Element::Type>;
  using Out = MatrixOut<Table>;
  static void apply(const In* const* in, Out* const* out, int count, Report& report) {
    if (count != Table::lanes) return report.add("matrix instruction in a partial wave");
    if constexpr (Table::duplicated) check_duplicates<Table>(in, report);
    float a[Table::size][Table::k_size];
    float b[Table::k_size][Table::size];
    float d[Table::size][Table::size];
    for (int l = 0; l < Table::lanes; ++l) {
      for (int s = 0; s < Table::elements; ++s) {
        a[Table::row(l)][Table::k(l, s)] = Element::value(in[l]->a[s]);
        b[Table::k(l, s)][Table::row(l)] = Element::value(in[l]->b[s]);
      }
      for (int r = 0; r < Table::results; ++r) d[Table::out_row(l, r)][Table::row(l)] = bits_float(in[l]->c[r]);
    }
    multiply_add(a, b, d);
    for (int l = 0; l < Table::lanes; ++l) {
      for (int r = 0; r < Table::results; ++r) out[l]->d[r] = float_bits(d[Table::out_row(l, r)][Table::row(l)]);
    }
  }
};

template <class Op, class Result, class A, class C>
Result matrix(bool a_signed, const A& a, bool b_signed, const A& b, const C& c, bool clamp) {
  typename Op::In in;
  static_assert(sizeof(in.a) == sizeof(A) && sizeof(in.c) == sizeof(C) && sizeof(Result) == sizeof(C), "operand sizes");
  std::memcpy(in.a, &a, sizeof(A));
  std::memcpy(in.b, &b, sizeof(A));
  std::memcpy(in.c, &c, sizeof(C));
  in.a_signed = a_signed;
  in.b_signed = b_signed;
  in.clamp = clamp;
  if (clamp) problem("the emulator has no saturating integer matrix product");
  const typename Op::Out out = collect<Op>(in);
  Result result;
  std::memcpy(&result, out.d, sizeof(Result));
  return result;
}

// ---- Lane exchanges.
struct PermuteX16 {  // each lane reads from the other half of its 32 lanes, at the position its 4-bit selector names
  struct In {
    std::uint32_t value, low, high;
  };
  using Out = std::uint32_t;
  static void apply(const In* const* in, Out* const* out, int count, Report&) {
    for (int l = 0; l < count; ++l) {
      const std::uint32_t selectors = l % 16 < 8 ? in[l]->low : in[l]->high;
      const int position = static_cast<int>(selectors >> (l % 8 * 4) & 15U);
      *out[l] = in[l / 32 * 32 + (l % 32 < 16 ? 16 : 0) + position]->value;
    }
  }
};
struct BackwardPermute {  // address in bytes, lane = address / 4
  struct In {
    std::uint32_t address, value;
  };
  using Out = std::uint32_t;
  static void apply(const In* const* in, Out* const* out, int count, Report&) {
    for (int l = 0; l < count; ++l) *out[l] = in[static_cast<int>(in[l]->address / 4) % count]->value;
  }
};
struct Ballot {
  using In = bool;
  using Out = std::uint64_t;
  static void apply(const In* const* in, Out* const* out, int count, Report&) {
    std::uint64_t mask = 0;
    for (int l = 0; l < count; ++l) mask |= static_cast<std::uint64_t>(*in[l]) << l;
    for (int l = 0; l < count; ++l) *out[l] = mask;
  }
};
struct FirstLane {  // the kernels use it only for values that are already the same in every lane
  using In = int;
  using Out = int;
  static void apply(const In* const* in, Out* const* out, int count, Report& report) {
    for (int l = 0; l < count; ++l) {
      if (*in[l] != *in[0]) report.add("a value declared uniform differs between lanes");
      *out[l] = *in[0];
    }
  }
};

}  // namespace sage_emulator

// ---- The names that the device text uses.
inline unsigned __builtin_amdgcn_workitem_id_x() { return static_cast<unsigned>(sage_emulator::thread_id()); }
inline unsigned __builtin_amdgcn_workgroup_id_x() { return static_cast<unsigned>(sage_emulator::workgroup_id()); }
inline void __builtin_amdgcn_s_barrier() { sage_emulator::barrier(); }
inline int __builtin_amdgcn_readfirstlane(int x) { return sage_emulator::collect<sage_emulator::FirstLane>(x); }
inline unsigned __builtin_amdgcn_ballot_w32(bool x) { return static_cast<unsigned>(sage_emulator::collect<sage_emulator::Ballot>(x)); }
inline unsigned long __builtin_amdgcn_ballot_w64(bool x) { return sage_emulator::collect<sage_emulator::Ballot>(x); }
inline unsigned __builtin_amdgcn_permlanex16(unsigned, unsigned x, unsigned low, unsigned high, bool, bool) {
  return sage_emulator::collect<sage_emulator::PermuteX16>({x, low, high});
}
inline int __builtin_amdgcn_ds_bpermute(int address, int x) {
  return static_cast<int>(
      sage_emulator::collect<sage_emulator::BackwardPermute>({static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(x)}));
}
// v_exp_f32 and v_log_f32 flush denormal results and inputs.
inline float __builtin_amdgcn_exp2f(float x) { return x < -126.0F ? 0.0F : std::exp2(x); }
inline float __builtin_amdgcn_logf(float x) { return std::log2(x); }
inline float __builtin_amdgcn_rcpf(float x) { return 1.0F / x; }
inline sage_emulator::f16x2 __builtin_amdgcn_cvt_pkrtz(float a, float b) {
  using sage_emulator::Rounding;
  return {{sage_emulator::f32_to_f16(a, Rounding::toward_zero), sage_emulator::f32_to_f16(b, Rounding::toward_zero)}};
}
inline float __builtin_amdgcn_fdot2(sage_emulator::f16x2 a, sage_emulator::f16x2 b, float c, bool) {
  using sage_emulator::f16_to_f32;
  return f16_to_f32(a.x[0]) * f16_to_f32(b.x[0]) + f16_to_f32(a.x[1]) * f16_to_f32(b.x[1]) + c;
}
inline float __builtin_amdgcn_dot4_f32_fp8_fp8(unsigned a, unsigned b, float c) {
  for (int i = 0; i < 4; ++i) {
    c += sage_emulator::fp8_to_f32(static_cast<std::uint8_t>(a >> (8 * i)), sage_emulator::Fp8::ocp) *
         sage_emulator::fp8_to_f32(static_cast<std::uint8_t>(b >> (8 * i)), sage_emulator::Fp8::ocp);
  }
  return c;
}
// Values beyond the format become NaN, as on gfx12.
inline int __builtin_amdgcn_cvt_pk_fp8_f32(float a, float b, int old, bool high) {
  using sage_emulator::Overflow;
  const unsigned low_byte = sage_emulator::f32_to_fp8(a, sage_emulator::device_fp8, Overflow::nan);
  const unsigned high_byte = sage_emulator::f32_to_fp8(b, sage_emulator::device_fp8, Overflow::nan);
  const unsigned pair = low_byte | high_byte << 8;
  const auto word = static_cast<unsigned>(old);
  return static_cast<int>(high ? (word & 0xffffU) | pair << 16 : (word & 0xffff0000U) | pair);
}

typedef float sage_f32x2 __attribute__((vector_size(8)));
inline sage_f32x2 __builtin_amdgcn_cvt_pk_f32_fp8(int packed, bool high) {
  const unsigned pair = static_cast<unsigned>(packed) >> (high ? 16 : 0);
  return sage_f32x2{sage_emulator::fp8_to_f32(static_cast<std::uint8_t>(pair), sage_emulator::device_fp8),
                    sage_emulator::fp8_to_f32(static_cast<std::uint8_t>(pair >> 8), sage_emulator::device_fp8)};
}

inline sage_emulator::i32x8 __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(bool sa, sage_emulator::i32x2 a, bool sb,
                                                                              sage_emulator::i32x2 b, sage_emulator::i32x8 c,
                                                                              bool clamp) {
  return sage_emulator::matrix<sage_emulator::IntegerMatrix<sage_emulator::Gfx12Bytes>, sage_emulator::i32x8>(sa, a, sb, b, c, clamp);
}
inline sage_emulator::f32x8 __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(sage_emulator::f16x8 a, sage_emulator::f16x8 b,
                                                                              sage_emulator::f32x8 c) {
  using Op = sage_emulator::FloatMatrix<sage_emulator::Gfx12Halves, sage_emulator::HalfElement>;
  return sage_emulator::matrix<Op, sage_emulator::f32x8>(true, a, true, b, c, false);
}
inline sage_emulator::f32x8 __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(sage_emulator::i32x2 a, sage_emulator::i32x2 b,
                                                                                  sage_emulator::f32x8 c) {
  using Op = sage_emulator::FloatMatrix<sage_emulator::Gfx12Bytes, sage_emulator::Fp8Element>;
  return sage_emulator::matrix<Op, sage_emulator::f32x8>(true, a, true, b, c, false);
}
inline sage_emulator::i32x8 __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(bool sa, sage_emulator::i32x4 a, bool sb,
                                                                        sage_emulator::i32x4 b, sage_emulator::i32x8 c, bool clamp) {
  return sage_emulator::matrix<sage_emulator::IntegerMatrix<sage_emulator::Gfx11Full>, sage_emulator::i32x8>(sa, a, sb, b, c, clamp);
}
inline sage_emulator::f32x8 __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(sage_emulator::f16x16 a, sage_emulator::f16x16 b,
                                                                        sage_emulator::f32x8 c) {
  using Op = sage_emulator::FloatMatrix<sage_emulator::Gfx11Full, sage_emulator::HalfElement>;
  return sage_emulator::matrix<Op, sage_emulator::f32x8>(true, a, true, b, c, false);
}
inline sage_emulator::i32x16 __builtin_amdgcn_mfma_i32_32x32x8i8(int a, int b, sage_emulator::i32x16 c, int, int, int) {
  return sage_emulator::matrix<sage_emulator::IntegerMatrix<sage_emulator::Mfma32<4>>, sage_emulator::i32x16>(true, a, true, b, c, false);
}
inline sage_emulator::i32x16 __builtin_amdgcn_mfma_i32_32x32x16_i8(long a, long b, sage_emulator::i32x16 c, int, int, int) {
  return sage_emulator::matrix<sage_emulator::IntegerMatrix<sage_emulator::Mfma32<8>>, sage_emulator::i32x16>(true, a, true, b, c, false);
}
inline sage_emulator::f32x16 __builtin_amdgcn_mfma_f32_32x32x8f16(sage_emulator::f16x4 a, sage_emulator::f16x4 b,
                                                                   sage_emulator::f32x16 c, int, int, int) {
  using Op = sage_emulator::FloatMatrix<sage_emulator::Mfma32<4>, sage_emulator::HalfElement>;
  return sage_emulator::matrix<Op, sage_emulator::f32x16>(true, a, true, b, c, false);
}
inline sage_emulator::f32x16 __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(long a, long b, sage_emulator::f32x16 c, int, int, int) {
  using Op = sage_emulator::FloatMatrix<sage_emulator::Mfma32<8>, sage_emulator::Fp8Element>;
  return sage_emulator::matrix<Op, sage_emulator::f32x16>(true, a, true, b, c, false);
}
