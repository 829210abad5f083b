// AMD: moves a K tile and a V^T tile from the workspace to shared memory through registers (gfx11 and gfx12 have no direct path).
//
// start() issues the global loads of a tile, finish() writes them to shared memory; the tile's arithmetic runs between the two. Every
// thread moves the same number of units without bounds tests: a conditional store at the end of the loop makes LLVM sink the
// matrix instructions below it, hold every fragment at once and spill. So the tile table picks wave counts that divide evenly.
#if defined(SAGE_ON_AMD) || defined(SAGE_ON_HOST)

namespace sage_device {

template <int kBytes>
struct CopyUnit;
template <>
struct CopyUnit<16> {
  typedef u32x4 type;
};
template <>
struct CopyUnit<8> {
  typedef u32x2 type;
};

constexpr int copy_unit_bytes(const int bytes, const int threads) { return bytes / 16 % threads == 0 ? 16 : 8; }

template <class Arch, int kDp, int kKeys, int kElement, int kThreads>
struct RegisterCopy {
  static constexpr int k_unit = copy_unit_bytes(kKeys * kDp, kThreads);
  static constexpr int v_unit = copy_unit_bytes(kKeys * kDp * kElement, kThreads);
  static constexpr int k_per_row = kDp / k_unit;
  static constexpr int v_per_row = kKeys * kElement / v_unit;
  static constexpr int k_count = kKeys * k_per_row / kThreads;
  static constexpr int v_count = kDp * v_per_row / kThreads;
  static_assert(k_count * kThreads * k_unit == kKeys * kDp, "the K tile must divide evenly among the threads");
  static_assert(v_count * kThreads * v_unit == kKeys * kDp * kElement, "the V tile must divide evenly among the threads");
  typedef typename CopyUnit<k_unit>::type KUnit;
  typedef typename CopyUnit<v_unit>::type VUnit;

  const u8* k;  // uniform: first byte of this head's K and V^T
  const u8* v;
  u32 k_from[k_count];  // byte offsets of this thread's units in tile 0
  u32 v_from[v_count];
  u32 k_to[k_count];  // and in the shared tile
  u32 v_to[v_count];
  KUnit k_held[k_count];
  VUnit v_held[v_count];

  SAGE_FN void init(const int thread, const signed char* k_head, const u8* v_head, const int key_padded) {
    k = reinterpret_cast<const u8*>(k_head);
    v = v_head;
    SAGE_UNROLL for (int i = 0; i < k_count; ++i) {
      const u32 index = static_cast<u32>(thread + i * kThreads);
      k_from[i] = index * k_unit;
      k_to[i] = Arch::k_unit(index / k_per_row, index % k_per_row * k_unit, kDp);
    }
    SAGE_UNROLL for (int i = 0; i < v_count; ++i) {
      const u32 index = static_cast<u32>(thread + i * kThreads);
      const u32 row = index / v_per_row;
      const u32 byte = index % v_per_row * v_unit;
      v_from[i] = row * static_cast<u32>(key_padded * kElement) + byte;
      v_to[i] = Arch::v_unit(row, byte, kKeys);
    }
  }
  SAGE_FN void start(const int tile, SharedRef, SharedRef) {
    const u8* const k_tile = k + static_cast<i64>(tile) * (kKeys * kDp);
    const u8* const v_tile = v + static_cast<i64>(tile) * (kKeys * kElement);
    SAGE_UNROLL for (int i = 0; i < k_count; ++i) k_held[i] = global_load<KUnit>(k_tile + k_from[i]);
    SAGE_UNROLL for (int i = 0; i < v_count; ++i) v_held[i] = global_load<VUnit>(v_tile + v_from[i]);
  }
  SAGE_FN void finish(const SharedRef k_tile, const SharedRef v_tile) {
    SAGE_UNROLL for (int i = 0; i < k_count; ++i) shared_store<KUnit>(k_tile + k_to[i], k_held[i]);
    SAGE_UNROLL for (int i = 0; i < v_count; ++i) shared_store<VUnit>(v_tile + v_to[i], v_held[i]);
  }
};

}  // namespace sage_device

#endif
