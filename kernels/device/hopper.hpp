// sm_90a: warpgroup products (wgmma). Four warps multiply 64 queries at a time, with Q, K and V read from shared memory by the tensor core itself.
//
// A warp of the four holds its 16 rows of S and O in the registers that mma.m16n8 would use, and P is the A operand in the registers of
// mma.m16n8k16 (or k32), so softmax, masks and output are those of nvidia.hpp. Shared memory is described to the tensor core by a
// descriptor: address, distance of 8 rows, and one of the swizzles that it knows; the hashes below are these.
//
// Of f16 operands it also takes B with its columns side by side: V as rows of keys, as the caller has it, in chunks of 128 or 64 bytes of channels
// (PTX ISA, "strides of matrices", MN-major: the leading dimension's distance is that of two chunks). fp8 must be V^T.
#if defined(SAGE_ON_NVIDIA) || defined(SAGE_ON_HOST)

namespace sage_device {

#if defined(SAGE_ON_HOST)
using sage_emulator::ptx_proxy_fence;
using sage_emulator::ptx_wgmma_commit;
using sage_emulator::ptx_wgmma_e4m3;
using sage_emulator::ptx_wgmma_f16;
using sage_emulator::ptx_wgmma_fence;
using sage_emulator::ptx_wgmma_s8;
using sage_emulator::ptx_wgmma_wait;
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
SAGE_FN void ptx_proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
SAGE_FN void ptx_wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
SAGE_FN void ptx_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
SAGE_FN void ptx_wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
// c += a * b^T: 64 rows by 64 columns, 32 of k.
SAGE_FN void ptx_wgmma_s8(int (&c)[32], const u64 a, const u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1;"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31])
      : "l"(a), "l"(b));
}
// c += a * b, b's rows being of k: 64 rows by D + 8 columns, 16 of k. Then the same of bytes, 32 of k, with the rows of b^T.
SAGE_FN void ptx_wgmma_f16(float (&c)[36], const u32x4& a, const u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n72k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35}, {%36, %37, %38, %39}, %40, 1, 1, 1, 1;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
SAGE_FN void ptx_wgmma_e4m3(float (&c)[36], const u32x4& a, const u64 b, const u32 add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %41, 0; wgmma.mma_async.sync.aligned.m64n72k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35}, {%36, %37, %38, %39}, %40, p, 1, 1; }"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
SAGE_FN void ptx_wgmma_f16(float (&c)[52], const u32x4& a, const u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n104k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51}, {%52, %53, %54, %55}, %56, 1, 1, 1, 1;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
SAGE_FN void ptx_wgmma_e4m3(float (&c)[52], const u32x4& a, const u64 b, const u32 add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %57, 0; wgmma.mma_async.sync.aligned.m64n104k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51}, {%52, %53, %54, %55}, %56, p, 1, 1; }"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
SAGE_FN void ptx_wgmma_f16(float (&c)[68], const u32x4& a, const u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n136k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67}, {%68, %69, %70, %71}, %72, 1, 1, 1, 1;"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63]), "+f"(c[64]), "+f"(c[65]), "+f"(c[66]), "+f"(c[67])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
SAGE_FN void ptx_wgmma_e4m3(float (&c)[68], const u32x4& a, const u64 b, const u32 add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %73, 0; wgmma.mma_async.sync.aligned.m64n136k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67}, {%68, %69, %70, %71}, %72, p, 1, 1; }"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63]), "+f"(c[64]), "+f"(c[65]), "+f"(c[66]), "+f"(c[67])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
#else
SAGE_FN void ptx_proxy_fence() {}
SAGE_FN void ptx_wgmma_fence() {}
SAGE_FN void ptx_wgmma_commit() {}
SAGE_FN void ptx_wgmma_wait() {}
SAGE_FN void ptx_wgmma_s8(int (&)[32], u64, u64) {}
template <int kCount>
SAGE_FN void ptx_wgmma_f16(float (&)[kCount], const u32x4&, u64) {}
template <int kCount>
SAGE_FN void ptx_wgmma_e4m3(float (&)[kCount], const u32x4&, u64, u32) {}
#endif

template <int kPv, int kForm = SAGE_FORM_PLAIN>
struct Hopper : Nvidia<kPv> {
  typedef Nvidia<kPv> Base;
  static constexpr bool warpgroups = true;
  // Behind the channels of V lie ones: eight more columns of O, each the sum of the row of P. In V^T they are eight rows, which take a KiB at most.
  static constexpr int ones_bytes = 1024;
  static constexpr u32 ones = kPv == SAGE_PV_FP8 ? 0x38383838u : 0x3c003c00u;

  template <bool kFp8, int kDp, int kKeys>
  struct CopiesOf {
    typedef MappedCopies<kKeys, kKeys * Base::k_row_bytes(kDp), kDp> type;
  };
  template <int kDp, int kKeys>
  struct CopiesOf<true, kDp, kKeys> {
    typedef TransposedCopies<kKeys, kKeys * Base::k_row_bytes(kDp), kKeys * kDp, ones_bytes> type;
  };
  template <int kDp, int kKeys>
  using Copies = typename CopiesOf<kPv == SAGE_PV_FP8, kDp, kKeys>::type;
  template <int kDp, int kKeys, int kWaves, int kStages>
  using Tiles = BarrieredTiles<Copies<kDp, kKeys>, kWaves, kStages>;
  template <int kDp, bool kBf16>
  using Queries = WarpQueries<Hopper, kDp, kBf16>;
  static SAGE_FN constexpr bool value_rows(const int dp, const int pv) { return dp != 256 && pv == SAGE_PV_F16; }

  // The tensor core's own swizzles of rows of 128 and of 64 bytes. Head dim 256 has the kernels of nvidia.hpp.
  static SAGE_FN constexpr u32 k_hash(const u32 row, const int dp) {
    return dp == 256 ? Base::k_hash(row, dp) : dp == 64 ? row >> 1 & 3u : row & 7u;
  }

  // The tensor core takes a whole row of a tile by itself: there are no addresses of lanes.
  template <int kDp>
  static SAGE_FN void load_query(typename Base::template Query<kDp>& query, const typename Base::Lane, const signed char*, const SharedRef) {
    query.at = 0;
  }
  static SAGE_FN u32 k_lane(const typename Base::Lane, int) { return 0; }
  static SAGE_FN u32 v_lane(const typename Base::Lane, int) { return 0; }
  // The warp's rows of Q and the ones, which threads wrote, are for the tensor core.
  static SAGE_FN void queries_arrived() { ptx_proxy_fence(); }

  // Where a key's row lies: fp8 takes four neighbouring keys of P from a lane, which holds pairs of neighbouring columns of S, so the rows of
  // 16 keys lie in the order that makes a lane's pairs neighbours (see nvidia.hpp).
  static SAGE_FN constexpr int key_place(const int key, const int dp, const int pv) {
    if (pv != SAGE_PV_FP8 || dp == 256) return key;
    return (key & ~14) | (key & 2) << 2 | (key & 12) >> 1;
  }
  template <int kOtherPv>
  using With = Hopper<kOtherPv>;

  // `chunk_step`: from one chunk of columns to the next, where columns lie side by side.
  static SAGE_FN u64 descriptor(const SharedRef of_lane, const int row_bytes, const int chunk_step = 16) {
    const SharedRef at = ptx_first_lane(of_lane);  // the same in every lane, which the compiler can't see
    const u64 swizzle = row_bytes == 128 ? 1 : 2;
    return static_cast<u64>(at >> 4 & 0x3fffu) | static_cast<u64>(chunk_step / 16) << 16 | static_cast<u64>(row_bytes * 8 / 16) << 32 |
           swizzle << 62;
  }

  // Scores of a tile, 64 keys a product: into the registers of two blocks of 32 each. `queries`: of the first four warps.
  template <int kDp, int kBlocks>
  static SAGE_FN void score_tile(typename Base::Scores (&s)[kBlocks], const SharedRef queries, const SharedRef keys, const int seed) {
    int c[kBlocks / 2][32];
    const u64 a = descriptor(queries + ptx_thread_id() / 128 * (64 * Base::k_row_bytes(kDp)), Base::k_row_bytes(kDp));
    const u64 b = descriptor(keys, Base::k_row_bytes(kDp));
    SAGE_UNROLL for (int h = 0; h < kBlocks / 2; ++h) {
      SAGE_UNROLL for (int i = 0; i < 32; ++i) c[h][i] = static_cast<int>(ptx_opaque(static_cast<u32>(seed)));
    }
    ptx_wgmma_fence();
    SAGE_UNROLL for (int h = 0; h < kBlocks / 2; ++h) {
      SAGE_UNROLL for (int t = 0; t < kDp / 32; ++t) {
        ptx_wgmma_s8(c[h], a + static_cast<u64>(2 * t), b + static_cast<u64>(h * 64 * Base::k_row_bytes(kDp) / 16 + 2 * t));
      }
    }
    ptx_wgmma_commit();
    ptx_wgmma_wait();
    SAGE_UNROLL for (int h = 0; h < kBlocks / 2; ++h) {
      SAGE_UNROLL for (int i = 0; i < 32; ++i) {
        s[2 * h + i / 16].c[i % 16] = static_cast<int>(ptx_opaque(static_cast<u32>(c[h][i])));
      }
    }
  }
  // Adds the products of a tile to O and to the row sums. `weights(b, p)` makes P of a block of 32 keys: while the tensor core multiplies one
  // block, the next one's exponentials are computed.
  template <int kTiles, int kBlocks, class Weights>
  static SAGE_FN void value_tile(typename Base::Out (&out)[kTiles], typename Base::Sum& sum, const SharedRef values, const Weights& weights) {
    constexpr int count = 4 * kTiles + 4;
    float c[count];
    if constexpr (kPv == SAGE_PV_FP8) {
      // The tensor core adds fp8 products with 14 bits or so: they go to registers of their own, which are added to O in single precision.
      SAGE_UNROLL for (int i = 0; i < count; ++i) c[i] = 0.0f;
      multiply_transposed<kTiles, kBlocks>(c, values, weights);
      SAGE_UNROLL for (int i = 0; i < count; ++i) accumulator(out, sum, i) += ptx_opaque(c[i]);
    } else {
      SAGE_UNROLL for (int i = 0; i < count; ++i) c[i] = ptx_opaque(accumulator(out, sum, i));
      multiply_rows<kTiles, kBlocks>(c, values, weights);
      SAGE_UNROLL for (int i = 0; i < count; ++i) accumulator(out, sum, i) = ptx_opaque(c[i]);
    }
  }
  template <int kTiles>
  static SAGE_FN float& accumulator(typename Base::Out (&out)[kTiles], typename Base::Sum& sum, const int i) {
    return i < 4 * kTiles ? out[i / 4].c[i % 4] : sum.c[i - 4 * kTiles];
  }
  template <int kTiles, int kBlocks, class Weights>
  static SAGE_FN void multiply_transposed(float (&c)[4 * kTiles + 4], const SharedRef values, const Weights& weights) {
    constexpr int part_units = (kTiles * 8 * Base::v_row_bytes(kTiles * 8) + ones_bytes) / 16;  // of 64 keys and the ones behind them
    const u64 first = descriptor(values, Base::v_row_bytes(kTiles * 8));
    SAGE_UNROLL for (int b = 0; b < kBlocks; ++b) {
      typename Base::Probabilities p;
      weights(b, p);
      ptx_wgmma_fence();
      ptx_wgmma_e4m3(c, p.a[0], first + static_cast<u64>(b / 2 * part_units + b % 2 * 2), b == 0 ? 0u : 1u);
      ptx_wgmma_commit();
    }
    ptx_wgmma_wait();
  }
  template <int kTiles, int kBlocks, class Weights>
  static SAGE_FN void multiply_rows(float (&c)[4 * kTiles + 4], const SharedRef values, const Weights& weights) {
    typedef Copies<kTiles * 8, kBlocks * 32> Layout;
    constexpr int step_units = Layout::chunk_bytes;  // 16 keys
    const u64 first = descriptor(values, Layout::chunk_bytes, Layout::chunk_step);
    SAGE_UNROLL for (int b = 0; b < kBlocks; ++b) {
      typename Base::Probabilities p;
      weights(b, p);
      const u64 v = first + static_cast<u64>(2 * b * step_units);
      ptx_wgmma_fence();
      ptx_wgmma_f16(c, p.a[0], v);
      ptx_wgmma_f16(c, p.a[1], v + step_units);
      ptx_wgmma_commit();
    }
    ptx_wgmma_wait();
  }
};

template <int kDp>
struct Sm90 {
  template <int kPv, int kForm>
  using Of = Hopper<kPv, kForm>;
};
template <>
struct Sm90<256> {
  template <int kPv, int kForm>
  using Of = Nvidia<kPv, kForm>;
};

}  // namespace sage_device

#endif
