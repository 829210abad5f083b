// The PTX instructions that the device text uses on NVIDIA, implemented from the PTX ISA's fragment tables.
//
// A lane is l = 4 g + t. mma m16n8: A registers hold, per row g and g + 8, `width` neighbouring k at width * t, then the same
// beyond half of k; B registers the same for column g; C registers columns 2t, 2t + 1 of rows g and g + 8.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

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
inline float ptx_opaque(float x) { return x; }
inline void ptx_sync() { barrier(); }
inline void ptx_warp_sync() { wave_barrier(); }
inline float ptx_max(float x, float y) { return std::fmax(x, y); }
inline float ptx_min(float x, float y) { return std::fmin(x, y); }
inline float ptx_max_abs(float x, float y) { return std::fmax(x, std::fabs(y)); }
// Launches run one after another here.
inline void ptx_launch_dependents() {}
inline void ptx_wait_for_grids() {}

// Byte i of the result is byte (selector >> 4 i) & 7 of y:x.
inline std::uint32_t ptx_prmt(std::uint32_t x, std::uint32_t y, std::uint32_t selector) {
  const std::uint64_t both = x | static_cast<std::uint64_t>(y) << 32;
  std::uint32_t z = 0;
  for (unsigned i = 0; i < 4; ++i) z |= static_cast<std::uint32_t>(both >> (selector >> 4 * i & 7U) * 8 & 0xffU) << 8 * i;
  return z;
}

// Each half by itself; the one that is no NaN.
template <class Value>
std::uint32_t of_halves(std::uint32_t x, std::uint32_t y, Value value, bool larger) {
  std::uint32_t z = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const auto a = static_cast<std::uint16_t>(x >> shift);
    const auto b = static_cast<std::uint16_t>(y >> shift);
    const bool take_a = std::isnan(value(b)) || (larger ? value(a) >= value(b) : value(a) <= value(b));
    z |= static_cast<std::uint32_t>(take_a ? a : b) << shift;
  }
  return z;
}
inline float bf16_value(std::uint16_t x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
  float y;
  std::memcpy(&y, &bits, 4);
  return y;
}
inline std::uint32_t ptx_max_f16x2(std::uint32_t x, std::uint32_t y) { return of_halves(x, y, f16_to_f32, true); }
inline std::uint32_t ptx_min_f16x2(std::uint32_t x, std::uint32_t y) { return of_halves(x, y, f16_to_f32, false); }
inline std::uint32_t ptx_max_bf16x2(std::uint32_t x, std::uint32_t y) { return of_halves(x, y, bf16_value, true); }
inline std::uint32_t ptx_min_bf16x2(std::uint32_t x, std::uint32_t y) { return of_halves(x, y, bf16_value, false); }
inline std::uint32_t ptx_cvt_bf16x2(float low, float high) {  // nearest even
  const auto one = [](float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return std::isnan(x) ? 0x7fffU : (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  };
  return one(low) | one(high) << 16;
}
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

struct Shuffle {
  struct In {
    std::uint32_t value;
    int lane;
  };
  using Out = std::uint32_t;
  static void apply(const In* const* in, Out* const* out, int count, Report&) {
    for (int l = 0; l < count; ++l) *out[l] = in[in[l]->lane & 31]->value;
  }
};
inline std::uint32_t ptx_shfl(std::uint32_t x, int lane) { return collect<Shuffle>({x, lane}); }

struct ShuffleFirst {
  using In = std::uint32_t;
  using Out = std::uint32_t;
  static void apply(const In* const* in, Out* const* out, int count, Report&) {
    for (int l = 0; l < count; ++l) *out[l] = *in[0];
  }
};
inline std::uint32_t ptx_first_lane(std::uint32_t x) { return collect<ShuffleFirst>(x); }

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

inline void ptx_mbarrier_init(std::uint32_t at, std::uint32_t arrivals) { mbarrier_init(at, arrivals); }
inline void ptx_mbarrier_fence() {}
inline void ptx_mbarrier_arrive(std::uint32_t at) { mbarrier_arrive(at, 0); }
inline void ptx_mbarrier_expect(std::uint32_t at, std::uint32_t bytes) { mbarrier_arrive(at, bytes); }
inline void ptx_mbarrier_wait(std::uint32_t at, std::uint32_t parity) { mbarrier_wait(at, parity); }
inline void ptx_bulk_copy(std::uint32_t to, const void* from, std::uint32_t bytes, std::uint32_t barrier) {
  bulk_copy(to, from, bytes, barrier);
}
template <class Map>
void ptx_tensor_copy(std::uint32_t to, const Map* map, int element, int token, int head, int batch, std::uint32_t barrier) {
  TensorMap known;
  static_assert(sizeof known <= sizeof map->opaque);
  std::memcpy(&known, map->opaque, sizeof known);
  tensor_copy(to, known, {element, token, head, batch}, barrier);
}
inline void ptx_proxy_fence() { proxy_fence(); }

// wgmma. A warp computes 16 of the 64 rows. Nothing is in the accumulators before the wait; both operands in shared memory are read when the
// product is asked for and again when it is waited for, so that a tile which is not there yet or not there any more is found.
//
// A descriptor: bits 0-13 address / 16, bits 32-45 distance of eight rows / 16, bits 62-63 swizzle: 1 for rows of 128 bytes (address bits 4-6
// are XORed with bits 7-9), 2 for rows of 64 bytes (bits 4-5 with bits 7-8). Where the rows are of k, bits 16-29 are the distance / 16 from
// one such chunk of columns to the next.
struct Product {
  enum class Kind { s8, f16, e4m3 } kind;
  void* sums;
  int columns;
  ptx_u32x4 a;
  std::uint64_t a_tile;  // where A lies in shared memory
  std::uint64_t b_tile;
  bool add;
};
struct Products {
  std::vector<Product> asked;
  std::map<void*, std::vector<std::uint32_t>> sums;  // what the accumulators will hold
  bool fenced = false;
  bool committed = true;
};
inline Products& products() {
  std::shared_ptr<void>& held = asynchronous_products();
  if (held == nullptr) held = std::make_shared<Products>();
  return *static_cast<Products*>(held.get());
}

typedef std::array<unsigned char, 32> MatrixRow;  // of one step of k
inline std::vector<MatrixRow> read_matrix(std::uint64_t tile, int first, int rows) {
  const auto address = static_cast<std::uint32_t>((tile & 0x3fffU) << 4);
  const auto eight_rows = static_cast<std::uint32_t>((tile >> 32 & 0x3fffU) << 4);
  const unsigned swizzle = static_cast<unsigned>(tile >> 62);
  if (swizzle != 1 && swizzle != 2) problem("a matrix descriptor without a swizzle of 64 or 128 bytes");
  const std::uint32_t row_bytes = swizzle == 1 ? 128 : 64;
  std::vector<MatrixRow> all(static_cast<std::size_t>(rows));
  for (int i = 0; i < rows; ++i) {
    const auto row = static_cast<std::uint32_t>(first + i);
    for (std::uint32_t unit = 0; unit < 32; unit += 16) {
      std::uint32_t at = address + row / 8 * eight_rows + row % 8 * row_bytes + unit;
      at ^= (at >> 7 & (swizzle == 1 ? 7U : 3U)) << 4;
      matrix_load_bytes(at, all[static_cast<std::size_t>(i)].data() + unit, 16);
    }
  }
  return all;
}

// The step's `columns` columns from rows of k: 16 rows of 2-byte elements.
inline std::vector<MatrixRow> read_columns(std::uint64_t tile, int columns) {
  const auto address = static_cast<std::uint32_t>((tile & 0x3fffU) << 4);
  const auto chunk_step = static_cast<std::uint32_t>((tile >> 16 & 0x3fffU) << 4);
  const auto eight_rows = static_cast<std::uint32_t>((tile >> 32 & 0x3fffU) << 4);
  const unsigned swizzle = static_cast<unsigned>(tile >> 62);
  if (swizzle != 1 && swizzle != 2) problem("a matrix descriptor without a swizzle of 64 or 128 bytes");
  const std::uint32_t row_bytes = swizzle == 1 ? 128 : 64;
  std::vector<MatrixRow> all(static_cast<std::size_t>(columns));
  for (std::uint32_t k = 0; k < 16; ++k) {
    for (std::uint32_t column = 0; column < static_cast<std::uint32_t>(columns); column += 8) {
      const std::uint32_t byte = column * 2;
      std::uint32_t at = address + byte / row_bytes * chunk_step + k / 8 * eight_rows + k % 8 * row_bytes + byte % row_bytes;
      at ^= (at >> 7 & (swizzle == 1 ? 7U : 3U)) << 4;
      unsigned char unit[16];
      matrix_load_bytes(at, unit, 16);
      for (std::uint32_t e = 0; e < 8; ++e) std::memcpy(all[column + e].data() + k * 2, unit + e * 2, 2);
    }
  }
  return all;
}
// B as rows of columns, in whichever way the instruction has it.
inline std::vector<MatrixRow> read_b(const Product& product) {
  return product.kind == Product::Kind::f16 ? read_columns(product.b_tile, product.columns) : read_matrix(product.b_tile, 0, product.columns);
}

template <class Value, class Sum>
void multiply_rows(const Product* const* op, std::vector<std::uint32_t>* const* sums, const std::vector<MatrixRow>& a_rows,
                   const std::vector<MatrixRow>& b_rows, Sum (*value)(const unsigned char*)) {
  constexpr int k_count = 32 / static_cast<int>(sizeof(Value));
  Sum a[16][k_count];
  for (int l = 0; l < 32; ++l) {
    for (int r = 0; r < 4 && a_rows.empty(); ++r) {
      unsigned char bytes[4];
      const std::uint32_t word = op[l]->a[r];
      std::memcpy(bytes, &word, 4);
      constexpr int width = 4 / static_cast<int>(sizeof(Value));
      for (int e = 0; e < width; ++e) {
        a[l / 4 + r % 2 * 8][r / 2 * (k_count / 2) + width * (l % 4) + e] = value(bytes + e * static_cast<int>(sizeof(Value)));
      }
    }
  }
  for (int i = 0; i < 16 && !a_rows.empty(); ++i) {
    for (int k = 0; k < k_count; ++k) a[i][k] = value(a_rows[static_cast<std::size_t>(i)].data() + k * static_cast<int>(sizeof(Value)));
  }
  for (int n = 0; n < op[0]->columns; ++n) {
    Sum b[k_count];
    for (int k = 0; k < k_count; ++k) b[k] = value(b_rows[static_cast<std::size_t>(n)].data() + k * static_cast<int>(sizeof(Value)));
    for (int i = 0; i < 16; ++i) {
      const int lane = i % 8 * 4 + n % 8 / 2;
      std::uint32_t& slot = (*sums[lane])[static_cast<std::size_t>(n / 8 * 4 + i / 8 * 2 + n % 2)];
      Sum sum{};
      if (op[0]->add) std::memcpy(&sum, &slot, 4);
      for (int k = 0; k < k_count; ++k) sum += a[i][k] * b[k];
      std::memcpy(&slot, &sum, 4);
    }
  }
}

struct AskProduct {
  using In = Product;
  using Out = int;
  static void apply(const In* const* in, Out* const*, int, Report&) {
    if (in[0]->kind == Product::Kind::s8) (void)read_matrix(in[0]->a_tile, wave_id() % 4 * 16, 16);
    (void)read_b(*in[0]);
  }
};
struct WaitProducts {
  using In = Products*;
  using Out = int;
  static void apply(const In* const* in, Out* const*, int, Report&) {
    for (std::size_t i = 0; i < (*in[0])->asked.size(); ++i) {
      const Product* op[32];
      std::vector<std::uint32_t>* sums[32];
      for (int l = 0; l < 32; ++l) {
        op[l] = &(*in[l])->asked.at(i);
        sums[l] = &(*in[l])->sums.at(op[l]->sums);
        if (op[l]->b_tile != op[0]->b_tile || op[l]->a_tile != op[0]->a_tile) problem("a matrix descriptor differs between lanes");
      }
      const std::vector<MatrixRow> b = read_b(*op[0]);
      switch (op[0]->kind) {
        case Product::Kind::s8:
          multiply_rows<std::int8_t, std::int32_t>(op, sums, read_matrix(op[0]->a_tile, wave_id() % 4 * 16, 16), b,
                                                   [](const unsigned char* x) { return static_cast<std::int32_t>(static_cast<std::int8_t>(*x)); });
          break;
        case Product::Kind::f16:
          multiply_rows<std::uint16_t, float>(op, sums, {}, b, [](const unsigned char* x) {
            return f16_to_f32(static_cast<std::uint16_t>(x[0] | x[1] << 8));
          });
          break;
        case Product::Kind::e4m3:
          multiply_rows<std::uint8_t, float>(op, sums, {}, b, [](const unsigned char* x) { return fp8_to_f32(*x, Fp8::ocp); });
          break;
      }
    }
  }
};

inline void ask_product(const Product& product, std::size_t registers) {
  Products& held = products();
  if (!held.fenced) problem("wgmma without a fence since the last wait");
  const auto [slot, fresh] = held.sums.try_emplace(product.sums);
  if (fresh) {
    slot->second.resize(registers);
    std::memcpy(slot->second.data(), product.sums, registers * 4);
    std::memset(product.sums, 0xff, registers * 4);
  }
  held.asked.push_back(product);
  held.committed = false;
  (void)collect<AskProduct>(product);
}
inline void ptx_wgmma_fence() {
  products().fenced = true;
  wave_barrier();
}
inline void ptx_wgmma_commit() { products().committed = true; }
inline void ptx_wgmma_wait() {
  Products& held = products();
  if (!held.committed) problem("wgmma waited for without a commit");
  (void)collect<WaitProducts>(&held);
  for (const auto& [at, values] : held.sums) std::memcpy(at, values.data(), values.size() * 4);
  asynchronous_products() = nullptr;
}
inline void ptx_wgmma_s8(int (&c)[32], unsigned long long a, unsigned long long b) {
  ask_product(Product{Product::Kind::s8, c, 64, ptx_u32x4{}, a, b, true}, 32);
}
template <std::size_t kCount>
void ptx_wgmma_f16(float (&c)[kCount], const ptx_u32x4& a, unsigned long long b) {
  ask_product(Product{Product::Kind::f16, c, static_cast<int>(kCount * 2), a, 0, b, true}, kCount);
}
template <std::size_t kCount>
void ptx_wgmma_e4m3(float (&c)[kCount], const ptx_u32x4& a, unsigned long long b, std::uint32_t add) {
  ask_product(Product{Product::Kind::e4m3, c, static_cast<int>(kCount * 2), a, 0, b, add != 0}, kCount);
}

}  // namespace sage_emulator
