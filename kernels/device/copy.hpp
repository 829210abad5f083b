// AMD: moves a K tile and a V^T tile from the workspace to shared memory through registers (gfx11 and gfx12 have no direct path).
//
// start() issues the global loads of a tile, finish() writes them to shared memory; the tile's arithmetic runs between the two. Every
// thread moves the same number of units without bounds tests: a conditional store at the end of the loop makes LLVM sink the
// matrix instructions below it, hold every fragment at once and spill. So the tile table picks wave counts that divide evenly.
#if defined(SAGE_ON_AMD) || defined(SAGE_ON_HOST)

namespace sage_device {

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

  // A thread's units are whole rows apart, so one offset serves them all, in the workspace and in shared memory.
  static_assert(kThreads % k_per_row == 0 && kThreads % v_per_row == 0, "a pass of all threads must copy whole rows");
  static constexpr int k_rows = kThreads / k_per_row;
  static constexpr int v_rows = kThreads / v_per_row;
  static_assert(k_rows % 8 == 0 && v_rows % 8 == 0, "passes are whole periods of a swizzle apart");

  const u8* k;  // uniform: first byte of this head's K and V^T
  const u8* v;
  u32 v_stride;  // bytes between V^T rows
  u32 k_from;    // byte offset of this thread's first unit in tile 0
  u32 v_from;
  u32 k_to;  // and in the shared tile
  u32 v_to;
  KUnit k_held[k_count];
  VUnit v_held[v_count];

  SAGE_FN void init(const int thread, const signed char* k_head, const u8* v_head, const int key_padded) {
    const u32 index = static_cast<u32>(thread);
    k = reinterpret_cast<const u8*>(k_head);
    v = v_head;
    v_stride = static_cast<u32>(key_padded * kElement);
    k_from = index * k_unit;
    k_to = Arch::k_unit(index / k_per_row, index % k_per_row * k_unit, kDp);
    v_from = index / v_per_row * v_stride + index % v_per_row * v_unit;
    v_to = Arch::v_unit(index / v_per_row, index % v_per_row * v_unit, kKeys);
  }
  // Addresses are a uniform pointer plus a 32-bit offset, which is a form of the load instruction; a head's K and V^T stay below 4 GiB.
  SAGE_FN void start(const int tile, SharedRef, SharedRef) {
    const u32 k_at = k_from + static_cast<u32>(tile * (kKeys * kDp));
    const u32 v_at = v_from + static_cast<u32>(tile * (kKeys * kElement));
    SAGE_UNROLL for (int i = 0; i < k_count; ++i) k_held[i] = global_load<KUnit>(k + i * (k_rows * kDp) + k_at);
    SAGE_UNROLL for (int i = 0; i < v_count; ++i) {
      v_held[i] = global_load<VUnit>(v + static_cast<u64>(v_stride) * static_cast<u32>(i * v_rows) + v_at);
    }
  }
  // The tile to fetch while `tile` is worked on: the last one is fetched again, because a test would cost more.
  static SAGE_FN int following(const int tile, const int tiles) { return minimum(tile + 1, tiles - 1); }
  SAGE_FN void finish(const SharedRef k_tile, const SharedRef v_tile) {
    SAGE_UNROLL for (int i = 0; i < k_count; ++i) shared_store<KUnit>(k_tile + k_to + Arch::k_unit(i * k_rows, 0, kDp), k_held[i]);
    SAGE_UNROLL for (int i = 0; i < v_count; ++i) shared_store<VUnit>(v_tile + v_to + Arch::v_unit(i * v_rows, 0, kKeys), v_held[i]);
  }
};

}  // namespace sage_device

#endif
