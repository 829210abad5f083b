// Brings the tiles of K and V into shared memory on NVIDIA. A stage holds a K tile and the V tile behind it; tile j uses stage j % kStages. In a
// pass of the loop: take(j), the products and between them advance(j), release(j). K lies in the workspace as in shared memory, a tile one run of
// bytes; so does V^T.
#if defined(SAGE_ON_NVIDIA) || defined(SAGE_ON_HOST)

namespace sage_device {

// First byte of a head's K and V^T.
struct HeadBytes {
  const u8* k;
  const u8* v;
};
template <int kKeys, int kKBytes, int kVBytes>
SAGE_FN HeadBytes head_bytes(const SageArgs& a, const int kv) {
  const i64 tiles = static_cast<i64>(kv) * (a.key_padded / kKeys);
  return {reinterpret_cast<const u8*>(a.k8) + tiles * kKBytes, static_cast<const u8*>(a.vt) + tiles * kVBytes};
}

// sm_80: every thread copies its share, tile j + 1 while tile j is worked on. One barrier a tile says both that tile j is complete and that
// nobody reads tile j - 1 any more.
template <int kKeys, int kKBytes, int kVBytes, int kWaves, int kStages>
struct AsyncTiles {
  static constexpr int stage_bytes = kKBytes + kVBytes;
  static constexpr int barrier_bytes = 0;
  static constexpr int threads = kWaves * 32;
  static_assert(kKBytes % (16 * threads) == 0 && kVBytes % (16 * threads) == 0, "a tile must divide evenly among the threads");

  typedef HeadBytes Source;
  static SAGE_FN Source source(const SageArgs& a, const int, const int, const int kv) { return head_bytes<kKeys, kKBytes, kVBytes>(a, kv); }

  static SAGE_FN void start(const SharedRef shared, const Source& from, const int tile) {
    const u32 mine = static_cast<u32>(ptx_thread_id()) * 16;
    const SharedRef to = shared + (static_cast<u32>(tile % kStages * stage_bytes) + mine);
    const u8* const k_at = from.k + (static_cast<i64>(tile) * kKBytes + mine);
    const u8* const v_at = from.v + (static_cast<i64>(tile) * kVBytes + mine);
    SAGE_UNROLL for (int i = 0; i < kKBytes; i += 16 * threads) ptx_cp_async_16(to + static_cast<u32>(i), k_at + i);
    SAGE_UNROLL for (int i = 0; i < kVBytes; i += 16 * threads) ptx_cp_async_16(to + static_cast<u32>(kKBytes + i), v_at + i);
    ptx_cp_async_commit();
  }
  static SAGE_FN void begin(const SharedRef shared, SharedRef, const Source& from, const SageTensorMap*, const int tiles) {
    if (tiles > 0) start(shared, from, 0);
  }
  static SAGE_FN void take(const SharedRef shared, SharedRef, const Source& from, const int tile, const int tiles) {
    ptx_cp_async_wait_all();
    ptx_sync();
    if (tile + 1 < tiles) start(shared, from, tile + 1);
  }
  static SAGE_FN void advance(SharedRef, SharedRef, const SageTensorMap*, int, int) {}
  static SAGE_FN void release(SharedRef, int) {}
};

// What the copy engine of sm_90 brings for a tile, with V as V^T: parts of 64 keys, each with room for rows of ones behind it.
template <int kKeys, int kKBytes, int kVBytes, int kOnesBytes>
struct TransposedCopies {
  static constexpr int parts = kKeys / 64;
  static constexpr int part_bytes = kVBytes / parts;
  static constexpr int stage_bytes = kKBytes + kVBytes + parts * kOnesBytes;
  static constexpr int copied_bytes = kKBytes + kVBytes;
  static constexpr int ones_runs = parts;  // in a stage
  static constexpr int ones_bytes = kOnesBytes;
  static SAGE_FN constexpr int ones_at(const int run) { return kKBytes + (run + 1) * part_bytes + run * kOnesBytes; }

  typedef HeadBytes Source;
  static SAGE_FN Source source(const SageArgs& a, const int, const int, const int kv) { return head_bytes<kKeys, kKBytes, kVBytes>(a, kv); }

  static SAGE_FN void start(const SharedRef to, const SharedRef barrier, const Source& from, const SageTensorMap*, const int tile) {
    ptx_bulk_copy(to, from.k + static_cast<i64>(tile) * kKBytes, kKBytes, barrier);
    SAGE_UNROLL for (int i = 0; i < parts; ++i) {
      ptx_bulk_copy(to + static_cast<u32>(kKBytes + i * (part_bytes + kOnesBytes)), from.v + (static_cast<i64>(tile) * kVBytes + i * part_bytes),
                    part_bytes, barrier);
    }
  }
};

// The same with V in rows of keys, wherever and in whatever strides it lies: the engine cuts it into chunks of channels, each [keys][chunk],
// swizzled. Behind the last chunk lies one of ones.
template <int kKeys, int kKBytes, int kDp>
struct MappedCopies {
  static constexpr int chunk_bytes = kDp % 64 == 0 ? 128 : 64;  // of a row: what a swizzle spans
  static constexpr int chunks = kDp * 2 / chunk_bytes;
  static constexpr int chunk_step = kKeys * chunk_bytes;
  static constexpr int stage_bytes = kKBytes + (chunks + 1) * chunk_step;
  static constexpr int copied_bytes = kKBytes + chunks * chunk_step;
  static constexpr int ones_runs = 1;
  static constexpr int ones_bytes = chunk_step;
  static SAGE_FN constexpr int ones_at(int) { return kKBytes + chunks * chunk_step; }

  struct Source {
    const u8* k;  // first byte of this head's
    int head;
    int batch;
  };
  static SAGE_FN Source source(const SageArgs& a, const int batch, const int kv_head, const int kv) {
    return {reinterpret_cast<const u8*>(a.k8) + static_cast<i64>(kv) * (a.key_padded / kKeys) * kKBytes, kv_head, batch};
  }
  static SAGE_FN void start(const SharedRef to, const SharedRef barrier, const Source& from, const SageTensorMap* const values, const int tile) {
    ptx_bulk_copy(to, from.k + static_cast<i64>(tile) * kKBytes, kKBytes, barrier);
    SAGE_UNROLL for (int i = 0; i < chunks; ++i) {
      ptx_tensor_copy(to + static_cast<u32>(kKBytes + i * chunk_step), values, i * (chunk_bytes / 2), tile * kKeys, from.head, from.batch, barrier);
    }
  }
};

// sm_90: per stage a barrier "full", completed by the bytes, and a barrier "empty", completed by every warp's release. All stages but the one in use
// are on their way. The warps take turns in asking for a tile, so that none of them falls behind for it. Whoever asks waits until the last user of
// the stage has gone; half a tile later there is nothing to wait for.
//
// Behind the barriers lie where the tiles come from and the number of the next one to be asked for. Whoever asks counts it up, which the barriers
// order as they order the stage. What is read from one address by all lanes the compiler takes for the same in all of them: a request made of such
// values is a few instructions, one made of others a search for lanes that agree.
template <class Copies, int kWaves, int kStages>
struct BarrieredTiles {
  static constexpr int stage_bytes = Copies::stage_bytes;
  static constexpr int barrier_bytes = kStages * 16 + 32;
  static constexpr int threads = kWaves * 32;
  typedef typename Copies::Source Source;

  static SAGE_FN Source source(const SageArgs& a, const int batch, const int kv_head, const int kv) { return Copies::source(a, batch, kv_head, kv); }

  static SAGE_FN SharedRef full(const SharedRef barriers, const int tile) { return barriers + static_cast<u32>(tile % kStages * 16); }
  static SAGE_FN SharedRef empty(const SharedRef barriers, const int tile) { return full(barriers, tile) + 8; }
  static SAGE_FN u32 parity(const int tile) { return static_cast<u32>(tile / kStages) & 1u; }

  static SAGE_FN void start_next(const SharedRef shared, const SharedRef barriers, const SageTensorMap* const values) {
    const int tile = shared_load<int>(barriers + (kStages * 16 + 16));
    shared_store<int>(barriers + (kStages * 16 + 16), tile + 1);
    const Source from = bits_as<Source>(shared_load<u32x4>(barriers + kStages * 16));
    const SharedRef barrier = full(barriers, tile);
    ptx_mbarrier_expect(barrier, Copies::copied_bytes);
    Copies::start(shared + static_cast<u32>(tile % kStages * stage_bytes), barrier, from, values, tile);
  }
  // What needs nothing of the kernels before: barriers and ones.
  static SAGE_FN void prepare(const SharedRef shared, const SharedRef barriers, const Source& from, const u32 ones) {
    const int thread = static_cast<int>(ptx_thread_id());
    if (thread == 0) {
      SAGE_UNROLL for (int i = 0; i < kStages; ++i) {
        ptx_mbarrier_init(full(barriers, i), 1);
        ptx_mbarrier_init(empty(barriers, i), kWaves);
      }
      ptx_mbarrier_fence();
      shared_store<u32x4>(barriers + kStages * 16, bits_as<u32x4>(from));
      shared_store<int>(barriers + (kStages * 16 + 16), 0);
    }
    const u32x4 words = {ones, ones, ones, ones};
    SAGE_UNROLL for (int i = 0; i < kStages * Copies::ones_runs; ++i) {
      const SharedRef to = shared + static_cast<u32>(i / Copies::ones_runs * stage_bytes + Copies::ones_at(i % Copies::ones_runs));
      SAGE_UNROLL for (int begin = 0; begin < Copies::ones_bytes; begin += threads * 16) {
        const int at = begin + thread * 16;
        if (Copies::ones_bytes % (threads * 16) == 0 || at < Copies::ones_bytes) shared_store<u32x4>(to + static_cast<u32>(at), words);
      }
    }
  }
  static SAGE_FN void begin(const SharedRef shared, const SharedRef barriers, const Source&, const SageTensorMap* const values, const int tiles) {
    if (ptx_thread_id() != 0) return;
    SAGE_UNROLL for (int i = 0; i < kStages - 1; ++i) {
      if (i < tiles) start_next(shared, barriers, values);
    }
  }
  static SAGE_FN void take(SharedRef, const SharedRef barriers, const Source&, const int tile, int) {
    ptx_mbarrier_wait(full(barriers, tile), parity(tile));
  }
  static SAGE_FN void advance(const SharedRef shared, const SharedRef barriers, const SageTensorMap* const values, const int tile, const int tiles) {
    const int next = tile + kStages - 1;
    const u32 thread = ptx_thread_id();
    if (next < tiles && static_cast<int>(thread / 32) == next % kWaves) {
      if (next >= kStages) ptx_mbarrier_wait(empty(barriers, next), parity(next) ^ 1u);
      if (thread % 32 == 0) start_next(shared, barriers, values);
    }
  }
  static SAGE_FN void release(const SharedRef barriers, const int tile) {
    ptx_warp_sync();
    if (ptx_thread_id() % 32 == 0) ptx_mbarrier_arrive(empty(barriers, tile));
  }
};

}  // namespace sage_device

#endif
