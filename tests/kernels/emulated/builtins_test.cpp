// Every emulated matrix instruction against a plain matrix product.
//
// Operands are asymmetric (A, B and C all different, no two rows alike), so that a swapped operand or a transposed result shows. Where an element
// goes is written here from the instruction tables in the other direction than in the emulator: from (row, k) to lane and position.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../../../kernels/emulator/amd_builtins.hpp"
#include "../../../kernels/emulator/ptx.hpp"
#include "../../../kernels/reference/reference.hpp"

namespace {

using namespace sage_emulator;  // the builtins' own vocabulary

struct Place {
  int lane;
  int position;
};

struct Shape {
  int rows, columns, depth, lanes;
  Place (*a)(int i, int k);
  Place (*b)(int k, int j);
  Place (*d)(int i, int j);
  bool duplicated;  // lanes 16-31 repeat lanes 0-15
};

struct Matrices {
  std::vector<std::vector<double>> a, b, c;
};

// Small whole numbers (exact in every format), different everywhere.
Matrices make_matrices(const Shape& s, const bool a_unsigned) {
  Matrices m;
  m.a.assign(static_cast<std::size_t>(s.rows), std::vector<double>(static_cast<std::size_t>(s.depth)));
  m.b.assign(static_cast<std::size_t>(s.depth), std::vector<double>(static_cast<std::size_t>(s.columns)));
  m.c.assign(static_cast<std::size_t>(s.rows), std::vector<double>(static_cast<std::size_t>(s.columns)));
  unsigned state = 12345;
  const auto next = [&state](const int range) {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(static_cast<int>(state >> 16) % range);
  };
  for (auto& row : m.a) {
    for (double& x : row) x = a_unsigned ? 200.0 + next(50) : next(15) - 7.0;
  }
  for (auto& row : m.b) {
    for (double& x : row) x = next(13) - 4.0;
  }
  for (auto& row : m.c) {
    for (double& x : row) x = next(1000) - 300.0;
  }
  return m;
}

// Element: writes x at a position of an operand's bytes. Execute: runs the instruction on a lane's bytes.
template <class Store, class Execute>
void check_product(const Shape& s, const bool integer_result, Store store, Execute execute, const bool a_unsigned = false) {
  const Matrices m = make_matrices(s, a_unsigned);
  std::vector<std::vector<unsigned char>> a(static_cast<std::size_t>(s.lanes), std::vector<unsigned char>(64));
  std::vector<std::vector<unsigned char>> b = a;
  std::vector<std::vector<float>> d(static_cast<std::size_t>(s.lanes), std::vector<float>(16));
  const auto at = [](auto& v, const int i) -> auto& { return v[static_cast<std::size_t>(i)]; };
  for (int copy = 0; copy < (s.duplicated ? 2 : 1); ++copy) {
    for (int k = 0; k < s.depth; ++k) {
      for (int i = 0; i < s.rows; ++i) store(at(a, s.a(i, k).lane + 16 * copy).data(), s.a(i, k).position, at(at(m.a, i), k));
      for (int j = 0; j < s.columns; ++j) store(at(b, s.b(k, j).lane + 16 * copy).data(), s.b(k, j).position, at(at(m.b, k), j));
    }
  }
  for (int i = 0; i < s.rows; ++i) {
    for (int j = 0; j < s.columns; ++j) {
      const double c = at(at(m.c, i), j);
      const float bits = integer_result ? bits_float(static_cast<std::uint32_t>(static_cast<std::int32_t>(c))) : static_cast<float>(c);
      std::memcpy(&at(at(d, s.d(i, j).lane), s.d(i, j).position), &bits, 4);
    }
  }
  GlobalMemory memory;
  Report report;
  Launch launch;
  launch.threads = launch.wave_size = s.lanes;
  run(launch, [&] { execute(at(a, thread_id()).data(), at(b, thread_id()).data(), at(d, thread_id()).data()); }, memory, report);
  CAPTURE(report.text());
  CHECK(report.clean());
  int wrong = 0;
  for (int i = 0; i < s.rows; ++i) {
    for (int j = 0; j < s.columns; ++j) {
      double expected = at(at(m.c, i), j);
      for (int k = 0; k < s.depth; ++k) expected += at(at(m.a, i), k) * at(at(m.b, k), j);
      const float got = at(at(d, s.d(i, j).lane), s.d(i, j).position);
      const double value = integer_result ? static_cast<double>(static_cast<std::int32_t>(float_bits(got))) : static_cast<double>(got);
      if (value != expected) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

template <class T>
T from(const void* bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof(T));
  return x;
}
template <class T>
void to(void* bytes, const T& x) {
  std::memcpy(bytes, &x, sizeof(T));
}

void store_byte(unsigned char* at, const int position, const double x) { at[position] = static_cast<unsigned char>(static_cast<int>(x)); }
void store_half(unsigned char* at, const int position, const double x) {
  to(at + 2 * position, sage::reference::encode(x, SAGE_TYPE_F16));
}
void store_fp8(unsigned char* at, const int position, const double x) {
  at[position] = f32_to_fp8(static_cast<float>(x), device_fp8, Overflow::nan);
}

Place gfx12_d(int i, int j) { return {j + 16 * (i / 8), i % 8}; }
Place gfx11_d(int i, int j) { return {j + 16 * (i % 2), i / 2}; }
Place mfma_d(int i, int j) { return {j + 32 * (i / 4 % 2), 4 * (i / 8) + i % 4}; }

const Shape gfx12_bytes{16, 16, 16, 32, [](int i, int k) { return Place{i + 16 * (k / 8), k % 8}; },
                        [](int k, int j) { return Place{j + 16 * (k / 8), k % 8}; }, gfx12_d, false};
const Shape gfx12_halves{16, 16, 16, 32, [](int i, int k) { return Place{i + 16 * (k / 4 % 2), k / 8 * 4 + k % 4}; },
                         [](int k, int j) { return Place{j + 16 * (k / 4 % 2), k / 8 * 4 + k % 4}; }, gfx12_d, false};
const Shape gfx11_any{16, 16, 16, 32, [](int i, int k) { return Place{i, k}; }, [](int k, int j) { return Place{j, k}; }, gfx11_d, true};
const Shape mfma_4{32, 32, 8, 64, [](int i, int k) { return Place{i + 32 * (k / 4), k % 4}; },
                   [](int k, int j) { return Place{j + 32 * (k / 4), k % 4}; }, mfma_d, false};
const Shape mfma_8{32, 32, 16, 64, [](int i, int k) { return Place{i + 32 * (k / 8), k % 8}; },
                   [](int k, int j) { return Place{j + 32 * (k / 8), k % 8}; }, mfma_d, false};
// PTX: register i / 8 + 2 * (upper half of k); bytes are counted through the four registers.
const Shape ptx_bytes{16, 8, 32, 32,
                      [](int i, int k) { return Place{4 * (i % 8) + k % 16 / 4, 4 * (i / 8 + 2 * (k / 16)) + k % 4}; },
                      [](int k, int j) { return Place{4 * j + k % 16 / 4, 4 * (k / 16) + k % 4}; },
                      [](int i, int j) { return Place{4 * (i % 8) + j / 2, 2 * (i / 8) + j % 2}; }, false};
const Shape ptx_halves{16, 8, 16, 32,
                       [](int i, int k) { return Place{4 * (i % 8) + k % 8 / 2, 2 * (i / 8 + 2 * (k / 8)) + k % 2}; },
                       [](int k, int j) { return Place{4 * j + k % 8 / 2, 2 * (k / 8) + k % 2}; },
                       [](int i, int j) { return Place{4 * (i % 8) + j / 2, 2 * (i / 8) + j % 2}; }, false};

}  // namespace

TEST_CASE("gfx12 matrix instructions") {
  check_product(gfx12_bytes, true, store_byte, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, from<i32x2>(a), true, from<i32x2>(b), from<i32x8>(d), false));
  });
  // The signedness flag of each operand: A unsigned with values above 127.
  check_product(
      gfx12_bytes, true, store_byte,
      [](unsigned char* a, unsigned char* b, float* d) {
        to(d, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(false, from<i32x2>(a), true, from<i32x2>(b), from<i32x8>(d), false));
      },
      true);
  check_product(gfx12_halves, false, store_half, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(from<f16x8>(a), from<f16x8>(b), from<f32x8>(d)));
  });
  check_product(gfx12_bytes, false, store_fp8, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(from<i32x2>(a), from<i32x2>(b), from<f32x8>(d)));
  });
}

TEST_CASE("gfx11 matrix instructions") {
  check_product(gfx11_any, true, store_byte, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, from<i32x4>(a), true, from<i32x4>(b), from<i32x8>(d), false));
  });
  check_product(
      gfx11_any, true, store_byte,
      [](unsigned char* a, unsigned char* b, float* d) {
        to(d, __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(false, from<i32x4>(a), true, from<i32x4>(b), from<i32x8>(d), false));
      },
      true);
  check_product(gfx11_any, false, store_half, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(from<f16x16>(a), from<f16x16>(b), from<f32x8>(d)));
  });
}

TEST_CASE("gfx9 matrix instructions") {
  check_product(mfma_4, true, store_byte, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_mfma_i32_32x32x8i8(from<int>(a), from<int>(b), from<i32x16>(d), 0, 0, 0));
  });
  check_product(mfma_8, true, store_byte, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_mfma_i32_32x32x16_i8(from<long>(a), from<long>(b), from<i32x16>(d), 0, 0, 0));
  });
  check_product(mfma_4, false, store_half, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_mfma_f32_32x32x8f16(from<f16x4>(a), from<f16x4>(b), from<f32x16>(d), 0, 0, 0));
  });
  check_product(mfma_8, false, store_fp8, [](unsigned char* a, unsigned char* b, float* d) {
    to(d, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(from<long>(a), from<long>(b), from<f32x16>(d), 0, 0, 0));
  });
}

TEST_CASE("PTX matrix instructions") {
  check_product(ptx_bytes, true, store_byte, [](unsigned char* a, unsigned char* b, float* d) {
    ptx_mma_s8(*reinterpret_cast<int(*)[4]>(d), from<ptx_u32x4>(a), from<unsigned>(b), from<unsigned>(b + 4));
  });
  check_product(ptx_halves, false, store_half, [](unsigned char* a, unsigned char* b, float* d) {
    ptx_mma_f16(*reinterpret_cast<float(*)[4]>(d), from<ptx_u32x4>(a), from<unsigned>(b), from<unsigned>(b + 4));
  });
  check_product(ptx_bytes, false, store_fp8, [](unsigned char* a, unsigned char* b, float* d) {
    ptx_mma_e4m3(*reinterpret_cast<float(*)[4]>(d), from<ptx_u32x4>(a), from<unsigned>(b), from<unsigned>(b + 4));
  });
}

TEST_CASE("lane exchanges") {
  GlobalMemory memory;
  Report report;
  Launch launch;
  launch.threads = launch.wave_size = 32;
  std::vector<unsigned> other(32);
  std::vector<unsigned> shuffled(32);
  run(
      launch,
      [&] {
        const auto l = static_cast<unsigned>(thread_id());
        other[l] = __builtin_amdgcn_permlanex16(l, l, 0x76543210, 0xfedcba98, false, false);
        shuffled[l] = ptx_shfl_xor(l, 2);
        CHECK(__builtin_amdgcn_ballot_w32(l == 5 || l == 31) == 0x80000020U);
        CHECK(static_cast<unsigned>(__builtin_amdgcn_ds_bpermute(static_cast<int>(4 * (31 - l)), static_cast<int>(l))) == 31 - l);
      },
      memory, report);
  CHECK(report.clean());
  for (unsigned l = 0; l < 32; ++l) {
    CHECK(other[l] == (l ^ 16U));
    CHECK(shuffled[l] == (l ^ 2U));
  }
}

TEST_CASE("number formats") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double expected = sage::reference::decode(half, SAGE_TYPE_F16);
    const float got = f16_to_f32(half);
    if (std::isnan(expected)) {
      CHECK(std::isnan(got));
    } else {
      CHECK(static_cast<double>(got) == expected);
      CHECK(f32_to_f16(got) == half);
      CHECK(f32_to_f16(got, Rounding::toward_zero) == half);
      // Halfway to the next number, and a little either side of it.
      if ((bits & 0x7fffU) < 0x7bffU) {
        const float next = f16_to_f32(static_cast<std::uint16_t>(bits + 1));
        const float middle = (got + next) / 2;
        CHECK(f32_to_f16(middle) == (bits & 1U ? half + 1 : half));
        CHECK(f32_to_f16(std::nextafter(middle, next)) == half + 1);
        CHECK(f32_to_f16(middle, Rounding::toward_zero) == half);
      }
    }
  }
  for (const Fp8 format : {Fp8::ocp, Fp8::fnuz}) {
    for (int code = 0; code < 256; ++code) {
      const float x = fp8_to_f32(static_cast<std::uint8_t>(code), format);
      if (std::isnan(x)) continue;
      if (x != 0.0F || code == 0) CHECK(f32_to_fp8(x, format, Overflow::nan) == code);
    }
  }
  CHECK(fp8_to_f32(0x7e, Fp8::ocp) == 448.0F);
  CHECK(fp8_to_f32(0x7f, Fp8::fnuz) == 240.0F);
  CHECK(fp8_to_f32(0x38, Fp8::ocp) == 1.0F);
  CHECK(fp8_to_f32(0x40, Fp8::fnuz) == 1.0F);
  CHECK(std::isnan(fp8_to_f32(f32_to_fp8(449.0F, Fp8::ocp, Overflow::nan), Fp8::ocp)));
  CHECK(f32_to_fp8(1e9F, Fp8::ocp, Overflow::saturate) == 0x7e);
  CHECK(f32_to_fp8(17.0F, Fp8::ocp, Overflow::nan) == f32_to_fp8(16.0F, Fp8::ocp, Overflow::nan));  // ties to even
  CHECK(f32_to_fp8(19.0F, Fp8::ocp, Overflow::nan) == f32_to_fp8(20.0F, Fp8::ocp, Overflow::nan));
}
