// What an attention workgroup holds and where: its shape, shared memory, what a thread keeps between tiles, and which queries are its own.
//
// Registers are what these kernels have least of. Where they are short, state that the products do not need waits in shared memory: asking for it
// again is one load, while what is held across the products the compiler spills, at a place of its choice and with a load for every word.

namespace sage_device {

// A structure as the units in which it is moved: one of 8 bytes, or as many as it takes of 16.
template <class T>
struct UnitsOf {
  static_assert(sizeof(T) == 8 || sizeof(T) % 16 == 0, "a structure that is kept fills its units");
  typedef typename CopyUnit<sizeof(T) == 8 ? 8 : 16>::type Unit;
  static constexpr int count = static_cast<int>(sizeof(T) / sizeof(Unit));
  Unit unit[count];
};

template <class Arch>
SAGE_FN constexpr bool has_warpgroups() {
  if constexpr (Arch::queries_in_shared) return Arch::warpgroups;
  return false;
}

// Products of fp8 take a second set of accumulators there.
template <class Arch>
constexpr bool kept_for_fp8(const int dp) {
  return has_warpgroups<Arch>() && Arch::exact_lse && dp > 96;
}

template <class Arch, int kDp, int kPv, int kWaves, int kGroups, int kKeys, int kKBuffers, int kVBuffers>
struct AttentionRoom {
  static_assert(Arch::queries_in_shared ? kVBuffers == kKBuffers : kKBuffers == 2, "see walk_stages() and walk_buffers()");
  static constexpr int threads = kWaves * Arch::wave_size;
  static constexpr int blocks = kKeys / kKeysPerScale;
  static constexpr int lanes_queries = Arch::queries_per_lane;
  static constexpr int queries = kWaves * kGroups * Arch::query_tile;
  static constexpr int out_tiles = kDp / Arch::out_tile;
  static constexpr int v_element = kPv == SAGE_PV_FP8 ? 1 : 2;
  static constexpr int k_bytes = kKeys * Arch::k_row_bytes(kDp);
  static constexpr int v_bytes = kDp * Arch::v_row_bytes(kKeys);  // AMD
  static constexpr int q_bytes = Arch::queries_in_shared ? queries * Arch::k_row_bytes(kDp) : 0;
  // Where registers are short, each thread keeps in shared memory what the products do not need: see Kept.
  static constexpr bool state_in_shared = Arch::queries_in_shared && (kGroups > 1 || kKeys > 64 || kDp * v_element > 256 || kept_for_fp8<Arch>(kDp));
  // Four warps that go together have little that differs between lanes: there a warp keeps its walk, once for all lanes.
  static constexpr bool walk_of_warp = has_warpgroups<Arch>();
  static constexpr int kept_before = walk_of_warp ? 0 : 3;  // where and what a thread walks over
  static constexpr int kept_units = state_in_shared ? kept_before + kGroups * (Arch::exact_lse ? 2 : 1) : 0;
  static constexpr int walk_bytes = walk_of_warp ? kWaves * 32 : 0;
  static constexpr int state_bytes = threads * kept_units * 16 + walk_bytes;
  static constexpr int room_for_tiles() {
    if constexpr (Arch::queries_in_shared) return kKBuffers * Arch::template Tiles<kDp, kKeys, kWaves, kKBuffers>::stage_bytes;
    return kKBuffers * k_bytes + kVBuffers * v_bytes;
  }
  static constexpr int room_for_barriers() {
    if constexpr (Arch::queries_in_shared) return Arch::template Tiles<kDp, kKeys, kWaves, kKBuffers>::barrier_bytes;
    return 0;
  }
  static constexpr int tiles_bytes = room_for_tiles();
  static constexpr int barrier_bytes = room_for_barriers();
  static constexpr int shared_bytes = tiles_bytes + q_bytes + state_bytes + barrier_bytes;
  // Shared memory: the first K buffer, the first V buffer, the further ones, Q, what threads keep, barriers. Buffers of a kind that has two
  // are `buffer_step` apart.
  static constexpr int buffer_step = k_bytes + (kVBuffers == 2 ? v_bytes : 0);
  static constexpr int v_start = kVBuffers == 2 ? k_bytes : kKBuffers * k_bytes;

  typedef typename Arch::Lane Lane;
  typedef typename Arch::Scores Scores;
  typedef typename Arch::Probabilities Probabilities;
  typedef typename Arch::Out Out;
  typedef typename Arch::template Query<kDp> Query;

  // State of one query group in one lane.
  struct Limits {
    float scale[lanes_queries];
    float max[lanes_queries];
  };
  struct ExactSums {  // with LSE output only: see softmax()
    float of[lanes_queries];
  };
  struct Rows {
    Limits limits;
    ExactSums exact;
    typename Arch::Sum sum;
  };

  // What a thread knows about its walk over the keys. It does not change on the way.
  struct Walk {
    u32 k_lane;  // byte offset of this lane in a shared K tile
    SharedRef query;  // of its Q rows, where they are in shared memory
    const float* k_scales;
    u32 v_lane;
    int unmasked_end;  // uniform: from the tile with this key on, this wave must mask
    int where;     // AMD: this wave's first query; NVIDIA: tiles of the workgroup (a register more in the loop would be spilled)
    int wave_end;  // uniform: end of this wave's keys
  };

  // What may lie in shared memory instead of registers, in units of 16 bytes a thread.
  enum Kept { kept_source = 0, kept_walk = 1, kept_limits = kept_before, kept_exact = kept_before + kGroups };

  static SAGE_FN SharedRef kept(const SharedRef shared, const int unit) {
    return shared + (shared_bytes - barrier_bytes - state_bytes + (unit * threads + Arch::thread_id()) * 16);
  }
  template <bool kInShared, class T>
  static SAGE_FN void keep(const SharedRef shared, const int unit, const T& x) {
    if constexpr (kInShared) {
      const UnitsOf<T> units = bits_as<UnitsOf<T>>(x);
      SAGE_UNROLL for (int i = 0; i < UnitsOf<T>::count; ++i) shared_store(kept(shared, unit + i), units.unit[i]);
    }
  }
  // `held` itself where it is held in registers.
  template <bool kInShared, class T>
  static SAGE_FN T fetch(const SharedRef shared, const int unit, const T& held) {
    if constexpr (kInShared) {
      UnitsOf<T> units;
      SAGE_UNROLL for (int i = 0; i < UnitsOf<T>::count; ++i) {
        units.unit[i] = shared_load<typename UnitsOf<T>::Unit>(kept(shared, unit + i));
      }
      return bits_as<T>(units);
    } else {
      return held;
    }
  }

  static SAGE_FN SharedRef warp_walk(const SharedRef shared) {
    return shared + (shared_bytes - barrier_bytes - walk_bytes + Arch::thread_id() / Arch::wave_size * 32);
  }
  static SAGE_FN void keep_walk(const SharedRef shared, const Walk& walk) {
    if constexpr (walk_of_warp) {
      const UnitsOf<Walk> units = bits_as<UnitsOf<Walk>>(walk);
      if (Arch::thread_id() % Arch::wave_size == 0) {
        SAGE_UNROLL for (int i = 0; i < 2; ++i) shared_store(warp_walk(shared) + static_cast<u32>(i * 16), units.unit[i]);
      }
      Arch::wave_barrier();
    } else {
      keep<state_in_shared>(shared, kept_walk, walk);
    }
  }
  static SAGE_FN Walk fetch_walk(const SharedRef shared, const Walk& held) {
    if constexpr (walk_of_warp) {
      UnitsOf<Walk> units;
      SAGE_UNROLL for (int i = 0; i < 2; ++i) {
        units.unit[i] = shared_load<typename UnitsOf<Walk>::Unit>(warp_walk(shared) + static_cast<u32>(i * 16));
      }
      const Walk kept = bits_as<Walk>(units);
      if constexpr (state_in_shared) return kept;
      Walk walk = held;
      walk.unmasked_end = kept.unmasked_end;  // the one register that is too much
      return walk;
    } else {
      return fetch<state_in_shared>(shared, kept_walk, held);
    }
  }

  // What a thread works on. Cheap enough to be asked for again after the loop, where holding it would cost registers.
  struct Place {
    int thread;
    int wave;
    Lane lane;
    int slice;  // of (batch, query head)
    int batch;
    int head;
    int kv;    // slice of (batch, kv head)
    int tile;  // of queries
    int first_query;
  };
  static SAGE_FN Place place(const SageArgs& a) {
    Place p;
    p.thread = Arch::thread_id();
    p.wave = Arch::uniform(p.thread / Arch::wave_size);
    p.lane = Arch::lane(p.thread);
    // Query tiles of one head are neighbours, then the heads that share K and V: their tiles meet in the cache. Last tiles first:
    // with a causal mask they are the longest.
    const int group = Arch::workgroup_id();
    p.slice = Arch::uniform(group / a.q_tiles);
    p.tile = a.q_tiles - 1 - (group - p.slice * a.q_tiles);
    p.batch = Arch::uniform(p.slice / a.q_heads);
    p.head = p.slice - p.batch * a.q_heads;
    p.kv = p.batch * a.kv_heads + Arch::uniform(p.head / (a.q_heads / a.kv_heads));
    p.first_query = p.tile * queries + p.wave * kGroups * Arch::query_tile;
    return p;
  }
};

}  // namespace sage_device
