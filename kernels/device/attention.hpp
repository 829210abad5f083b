// The attention loop, written once over an architecture trait.
//
// A workgroup owns `waves * groups` query groups and walks over the keys in tiles. Per tile: fetch the next tile, int8 scores, mask (only
// where a mask can bite), running maximum, probabilities, second product, hand the next tile over. Every architecture sees keys in
// blocks of 32 with 16 values per lane and block; the trait says which key and which query a value belongs to.
//
// Scores never become integers. The int32 accumulator starts at 0x4B400000, the bits of the float 12582912 = 1.5 * 2^23, so that its
// bits read as a float are 12582912 + s, exact for |s| <= 2^22 = 128 * 128 * 256 (head dim 256). The exponent is then one
// fused multiply-add: (12582912 + s) * c - (12582912 * c + m), c = q_scale * k_scale in log2 units.
//
// Why this subtraction is exact where it matters: the prologue rounds both scales to 10 significant bits, so 12582912 * c is a
// float without rounding, and the running maximum m is kept as an integer (rounded up), so that the sum with m is one too. Integer m
// also makes every rescale factor a power of two, and log2-sum-exp = m + log2(l) needs no correction. c is capped at 1/4: beyond it
// one unit of the int8 product is a quarter of a binary order, the rounding of Q and K alone moves the scores by a hundred such
// units, and the cap keeps 12582912 * c + m an exact float.
//
// m follows the true maximum lazily: probabilities may grow to 2^lazy_threshold before a rescale, decided before they are computed
// and by one vote for the wave.

namespace sage_device {

constexpr float kScaleCap = 0.25f;
constexpr float kNothing = -1e30f;  // running maximum before any key: finite, so that no inf - inf can arise

constexpr int kMinusInfinityBits = static_cast<int>(0xff800000u);

SAGE_FN float minus_infinity() { return bits_as<float>(kMinusInfinityBits); }

// Round to nearest even; NaN stays NaN (the library never makes one, the caller's data may hold one).
SAGE_FN u16 to_bf16(const float x) {
  const u32 bits = bits_as<u32>(x);
  if (x != x) return static_cast<u16>(bits >> 16 | 0x40u);
  return static_cast<u16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <int kRun>
SAGE_FN void store_run(void* at, const u16 (&x)[kRun]) {
  if constexpr (kRun % 8 == 0) {
    SAGE_UNROLL for (int i = 0; i < kRun; i += 8) {
      u32x4 words = {};
      SAGE_UNROLL for (int w = 0; w < 4; ++w) words[w] = x[i + 2 * w] | static_cast<u32>(x[i + 2 * w + 1]) << 16;
      global_store<u32x4>(static_cast<u16*>(at) + i, words);
    }
  } else {
    SAGE_UNROLL for (int i = 0; i < kRun; i += 2) {
      global_store<u32>(static_cast<u16*>(at) + i, x[i] | static_cast<u32>(x[i + 1]) << 16);
    }
  }
}

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
struct Attention {
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

  // What may lie in shared memory instead of registers, in units of 16 bytes a thread. Asking for it again is one load; what is held across
  // the products is spilled by the compiler, at a place of its choice and with a load for every word.
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

  // Sets the scores of keys at or beyond the row's limit to -inf. `first` is the first key of the block.
  static SAGE_FN void mask_block(Scores& s, const Lane lane, const int first, const int (&limit)[lanes_queries]) {
    // Keys are compared relative to the lane's first one, so that the right-hand side is a constant.
    const int lane_first = Arch::key_of(lane, 0);
    SAGE_UNROLL for (int i = 0; i < 16; ++i) {
      const int visible = limit[Arch::query_slot(i)] - first - lane_first;
      Arch::set_bits(s, i, visible > Arch::key_of(lane, i) - lane_first ? Arch::bits(s, i) : kMinusInfinityBits);
    }
  }

  // Largest score of a query in a block. Compared as integers: unmasked values are positive floats, which order like their bits, and
  // the bits of -inf are negative. (A float maximum would first quiet NaNs, one more instruction per value.)
  static SAGE_FN float block_max(const Scores& s, const int q) {
    int low = kMinusInfinityBits;  // two chains, so that a value is not needed by the very next instruction
    int high = kMinusInfinityBits;
    SAGE_UNROLL for (int i = 0; i < 8; ++i) {
      if (Arch::query_slot(i) == q) low = maximum(low, Arch::bits(s, i));
      if (Arch::query_slot(i + 8) == q) high = maximum(high, Arch::bits(s, i + 8));
    }
    return bits_as<float>(maximum(low, high));
  }

  // The same where an instruction takes the largest of three: four of them for eight values.
  static SAGE_FN float block_max3(const Scores& s, const int q) {
    int x[8] = {};
    int count = 0;
    SAGE_UNROLL for (int i = 0; i < 16; ++i) {
      if (Arch::query_slot(i) == q) x[count++] = Arch::bits(s, i);
    }
    const int low = maximum(maximum(x[0], x[1]), x[2]);
    const int high = maximum(maximum(x[3], x[4]), x[5]);
    return bits_as<float>(maximum(maximum(maximum(low, x[6]), x[7]), high));
  }

  static SAGE_FN int limit_of(const SageArgs& a, const int query) {
    if (a.mask == SAGE_MASK_NONE) return a.kv_len;
    const int shift = a.mask == SAGE_MASK_CAUSAL_BOTTOM_RIGHT ? a.kv_len - a.q_len : 0;
    return maximum(0, minimum(a.kv_len, query + shift + 1));
  }

  static SAGE_FN void mask_tile(Scores (&s)[blocks], const Lane lane, const int first_key, const SageArgs& a, const int group_query) {
    int limit[lanes_queries];
    SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
      limit[q] = limit_of(a, minimum(group_query + Arch::query_of(lane, q), a.q_len - 1));
    }
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) mask_block(s[b], lane, first_key + b * kKeysPerScale, limit);
  }

  // P = exp2(score * c - offset - max), per block of keys and query.
  struct Exponents {
    float c[blocks][lanes_queries];
    float offset[blocks][lanes_queries];
  };

  // The largest exponent of each query, max not yet subtracted; true when one has outgrown its row's maximum.
  static SAGE_FN bool bound(const Scores (&s)[blocks], const Rows& rows, const float (&k_scale)[blocks], Exponents& e,
                            float (&top)[lanes_queries]) {
    bool grows = false;
    SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
      SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
        e.c[b][q] = Arch::min(rows.limits.scale[q] * k_scale[b], kScaleCap);
        e.offset[b][q] = kMagic * e.c[b][q];
        const float block_top = Arch::fma(block_max(s[b], q), e.c[b][q], -e.offset[b][q]);
        top[q] = b == 0 ? block_top : Arch::max(top[q], block_top);
      }
      grows = grows || top[q] > rows.limits.max[q] + Arch::lazy_threshold;
    }
    return grows;
  }
  // Raises the maxima to where the exponents are, and everything summed up so far with them.
  static SAGE_FN void rescale(Rows& rows, Out (&out)[out_tiles], const float (&top)[lanes_queries], const SharedRef shared,
                              const int group) {
    float alpha[lanes_queries];
    SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
      const float next = Arch::max(rows.limits.max[q], Arch::ceiling(Arch::row_max(top[q])));
      alpha[q] = Arch::exp2(rows.limits.max[q] - next);
      rows.limits.max[q] = next;
    }
    keep<state_in_shared>(shared, kept_limits + group, rows.limits);
    if constexpr (Arch::exact_lse) {
      rows.exact = fetch<state_in_shared>(shared, kept_exact + group, rows.exact);
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) rows.exact.of[q] *= alpha[q];
      keep<state_in_shared>(shared, kept_exact + group, rows.exact);
    }
    Arch::scale(rows.sum, alpha);
    SAGE_UNROLL for (int d = 0; d < out_tiles; ++d) Arch::scale(out[d], alpha);
  }
  static SAGE_FN void exponentials(float (&x)[16], const Scores& s, const Exponents& e, const int b, const Rows& rows) {
    float shift[lanes_queries];
    SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) shift[q] = e.offset[b][q] + (rows.limits.max[q] - Arch::p_offset);
    SAGE_UNROLL for (int i = 0; i < 16; ++i) {
      const int q = Arch::query_slot(i);
      x[i] = Arch::exp2(Arch::fma(bits_as<float>(Arch::bits(s, i)), e.c[b][q], -shift[q]));
    }
  }

  static SAGE_FN void add_exact(Rows& rows, const float (&x)[16], const SharedRef shared, const int group) {
    rows.exact = fetch<state_in_shared>(shared, kept_exact + group, rows.exact);
    SAGE_UNROLL for (int i = 0; i < 16; ++i) rows.exact.of[Arch::query_slot(i)] += x[i];
    keep<state_in_shared>(shared, kept_exact + group, rows.exact);
  }

  // Online softmax of one query group over one tile; scores in, packed probabilities out.
  //
  // The output is divided by the sum of the rounded probabilities, so that rounding cancels where few keys dominate. Log-sum-exp would show
  // that rounding (3 % of a row with one key in fp8, 0.1 % in f16 rounded toward zero): it gets a sum of the unrounded ones, only when asked for.
  static SAGE_FN void softmax(Scores (&s)[blocks], Probabilities (&p)[blocks], Rows& rows,
                              Out (&out)[out_tiles], const float (&k_scale)[blocks], const bool masked,
                              const bool want_lse, const Lane lane, const int first_key, const SageArgs& a,
                              const int group_query, const SharedRef shared, const int group) {
    rows.limits = fetch<state_in_shared>(shared, kept_limits + group, rows.limits);
    if (masked) mask_tile(s, lane, first_key, a, group_query);
    Exponents e;
    float top[lanes_queries] = {};
    const bool grows = bound(s, rows, k_scale, e, top);
    if (Arch::any(grows)) rescale(rows, out, top, shared, group);
    float x[blocks][16];
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) exponentials(x[b], s[b], e, b, rows);
    if constexpr (Arch::exact_lse) {
      if (want_lse) {
        rows.exact = fetch<state_in_shared>(shared, kept_exact + group, rows.exact);
        SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
          SAGE_UNROLL for (int i = 0; i < 16; ++i) rows.exact.of[Arch::query_slot(i)] += x[b][i];
        }
        keep<state_in_shared>(shared, kept_exact + group, rows.exact);
      }
    }
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
      Arch::pack(p[b], x[b]);
      Arch::accumulate(rows.sum, p[b]);
    }
    Arch::schedule_fence();
  }

  static SAGE_FN void store_row(const SageArgs& a, const Out (&out)[out_tiles], const Lane lane, const int q,
                                const float inverse, const float* v_scale, const i64 row) {
    constexpr int run = Arch::out_run;
    SAGE_UNROLL for (int d = 0; d < out_tiles; ++d) {
      SAGE_UNROLL for (int first = 0; first < Arch::out_values; first += run) {
        const int channel = d * Arch::out_tile + Arch::channel_of(lane, first);
        u16 bits[run];
        SAGE_UNROLL for (int e = 0; e < run; ++e) {
          const float x = Arch::value(out[d], first + e, q) * inverse * (a.v_scaled ? global_load<float>(v_scale + channel + e) : 1.0f);
          bits[e] = a.io_type == SAGE_TYPE_BF16 ? to_bf16(x) : Arch::f32_to_f16(x);
        }
        u16* const at = static_cast<u16*>(a.out) + row;
        if (a.out_vector && channel + run <= a.head_dim) {
          store_run<run>(at + channel, bits);
        } else {
          SAGE_UNROLL for (int e = 0; e < run; ++e) {
            if (channel + e < a.head_dim) global_store<u16>(at + (channel + e) * a.out_stride.dim, bits[e]);
          }
        }
        Arch::schedule_fence();  // else every channel's scale is loaded at once, beside the accumulators
      }
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

  // `values`: a view of V, where the architecture has one.
  static SAGE_FN void run(const SageArgs& a, const SharedRef shared, const SageTensorMap* const values = nullptr) {
    if constexpr (Arch::queries_in_shared) {
      walk_stages(a, values, shared);
    } else {
      walk_buffers(a, shared);
    }
  }

  // Scales of this lane's rows of Q. Warpgroups make int8 of their rows here, before anything that the prologue made is needed.
  static SAGE_FN void load_scales(const SageArgs& a, const Place& p, float (&scale)[lanes_queries], const int group_query, const SharedRef q_shared) {
    if constexpr (has_warpgroups<Arch>()) {
      typedef typename Arch::template Queries<kDp, true> Bf16;
      typedef typename Arch::template Queries<kDp, false> F16;
      const SharedRef own = q_shared + static_cast<u32>(p.wave * Arch::query_tile * Arch::k_row_bytes(kDp));
      u32x4 x[F16::passes];
      F16::load_rows(a, p.batch, p.head, group_query, x);
      a.io_type == SAGE_TYPE_BF16 ? Bf16::make(a, x, own, scale) : F16::make(a, x, own, scale);
    } else {
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        const int row = minimum(group_query + Arch::query_of(p.lane, q), a.q_len - 1);
        scale[q] = global_load<float>(a.q_scale + static_cast<i64>(p.slice) * a.q_len + row);
      }
    }
  }
  static SAGE_FN void start_queries(const SageArgs& a, const Place& p, Query (&query)[kGroups], Rows (&rows)[kGroups],
                                    Out (&out)[kGroups][out_tiles], const SharedRef shared) {
    const SharedRef q_shared = shared + (tiles_bytes);
    SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
      const int group_query = p.first_query + g * Arch::query_tile;
      load_scales(a, p, rows[g].limits.scale, group_query, q_shared);
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        rows[g].limits.max[q] = kNothing;
        rows[g].exact.of[q] = 0.0f;
      }
      keep<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      if constexpr (Arch::exact_lse) keep<state_in_shared>(shared, kept_exact + g, rows[g].exact);
      const int row = minimum(group_query + Arch::query_of(p.lane, 0), a.q_len - 1);
      Arch::template load_query<kDp>(query[g], p.lane, a.q8 + (static_cast<i64>(p.slice) * a.q_len + row) * kDp,
                                     q_shared + (p.wave * kGroups + g) * Arch::query_tile * Arch::k_row_bytes(kDp));
      Arch::clear(rows[g].sum);
      SAGE_UNROLL for (int d = 0; d < out_tiles; ++d) Arch::clear(out[g][d]);
    }
  }
  static SAGE_FN int tile_count(const SageArgs& a, const Place& p) {
    const int last_row = minimum(p.tile * queries + queries, a.q_len) - 1;
    return (limit_of(a, last_row) + kKeys - 1) / kKeys;
  }
  static SAGE_FN Walk start_walk(const SageArgs& a, const Place& p, const Query (&query)[kGroups]) {
    Walk walk;
    int end = p.first_query + kGroups * Arch::query_tile;
    if constexpr (Arch::queries_in_shared) {
      walk.query = query[0].at;
      if (Arch::warpgroups) end = (p.first_query / 64 + 1) * 64;  // the four warps go together
    }
    walk.wave_end = limit_of(a, minimum(end, a.q_len) - 1);
    walk.unmasked_end = limit_of(a, p.first_query);
    walk.where = Arch::queries_in_shared ? tile_count(a, p) : p.first_query;
    walk.k_scales = a.k_scale + static_cast<i64>(p.kv) * (a.key_padded / kKeysPerScale);
    walk.k_lane = Arch::k_lane(p.lane, kDp);
    walk.v_lane = Arch::v_lane(p.lane, Arch::queries_in_shared ? kDp : kKeys);
    return walk;
  }

  // One tile: scores, softmax, second product.
  static SAGE_FN void work(const SageArgs& a, const Lane lane, const int tile, Walk& walk, Query (&query)[kGroups], Rows (&rows)[kGroups],
                           Out (&out)[kGroups][out_tiles], const typename Arch::Seed seed, const SharedRef shared,
                           const SharedRef k_tile, const SharedRef v_tile) {
    const int first_key = tile * kKeys;
    walk = fetch_walk(shared, walk);
    const SharedRef k_at = k_tile + walk.k_lane;
    if constexpr (Arch::queries_in_shared) query[0].at = walk.query;
    Scores s[blocks][kGroups];
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
      SAGE_UNROLL for (int g = 0; g < kGroups; ++g) Arch::start(s[b][g], seed);
      Arch::template score_block<kDp, kGroups>(s[b], k_at, b, lane, query);
    }
    float k_scale[blocks];
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) k_scale[b] = uniform_load<float>(walk.k_scales + tile * blocks + b);
    walk = fetch_walk(shared, walk);
    const bool masked = first_key + kKeys > walk.unmasked_end;
    Probabilities weights[blocks][kGroups];
    SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
      Scores group_scores[blocks];
      Probabilities group_p[blocks];
      SAGE_UNROLL for (int b = 0; b < blocks; ++b) group_scores[b] = s[b][g];
      softmax(group_scores, group_p, rows[g], out[g], k_scale, masked, a.lse != nullptr, lane, first_key, a,
              walk.where + g * Arch::query_tile, shared, g);
      SAGE_UNROLL for (int b = 0; b < blocks; ++b) weights[b][g] = group_p[b];
    }
    const SharedRef v_at = v_tile + fetch_walk(shared, walk).v_lane;
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
      Arch::template value_block<out_tiles, kGroups, kKeys>(out, v_at, b, lane, weights[b]);
    }
  }

  static SAGE_FN float base_of(const Rows& rows, const int q) {
    if constexpr (Arch::p_offset == 0.0f) return rows.limits.max[q];
    return rows.limits.max[q] - Arch::p_offset;
  }

  // The same with the groups side by side, one vote and one branch for all of them, and block by block from the probabilities on: the
  // exponentials of a block are computed while the tensor core multiplies the block before.
  template <class Advance>
  static SAGE_FN void work_abreast(const SageArgs& a, const int tile, Walk& walk, Query (&query)[kGroups], Rows (&rows)[kGroups],
                                   Out (&out)[kGroups][out_tiles], const typename Arch::Seed seed, const SharedRef shared,
                                   const SharedRef k_tile, const SharedRef v_tile, const Advance& advance) {
    constexpr bool crowded = !Arch::warpgroups && blocks * kGroups > 4;  // the scores of a tile leave few registers
    const Lane lane = Arch::lane(Arch::thread_id());
    const int first_key = tile * kKeys;
    const SharedRef k_at = k_tile + walk.k_lane;
    query[0].at = walk.query;
    float k_scale[blocks];
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) k_scale[b] = uniform_load<float>(walk.k_scales + tile * blocks + b);
    Scores s[kGroups][blocks];
    if constexpr (Arch::warpgroups) {
      Arch::template score_tile<kDp, blocks>(s[0], shared + static_cast<u32>(tiles_bytes), k_at, seed);
    } else SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
      Scores block[kGroups];
      // Else more fragments of K are loaded ahead than there are registers.
      if (b > 0 && crowded) Arch::wave_barrier();
      SAGE_UNROLL for (int g = 0; g < kGroups; ++g) Arch::start(block[g], seed);
      Arch::template score_block<kDp, kGroups>(block, k_at, b, lane, query);
      SAGE_UNROLL for (int g = 0; g < kGroups; ++g) s[g][b] = block[g];
    }
    if (!crowded) advance(tile);
    walk = fetch_walk(shared, walk);
    if (first_key + kKeys > walk.unmasked_end) {
      SAGE_UNROLL for (int g = 0; g < kGroups; ++g) mask_tile(s[g], lane, first_key, a, place(a).first_query + g * Arch::query_tile);
    }
    Exponents e[kGroups];
    float top[kGroups][lanes_queries];
    bool grows = false;
    SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
      rows[g].limits = fetch<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
          e[g].c[b][q] = Arch::min(rows[g].limits.scale[q] * k_scale[b], kScaleCap);
          e[g].offset[b][q] = Arch::fma(kMagic, e[g].c[b][q], base_of(rows[g], q));
          const float block_top = Arch::fma(block_max3(s[g][b], q), e[g].c[b][q], -e[g].offset[b][q]);
          top[g][q] = b == 0 ? block_top : Arch::max(top[g][q], block_top);
        }
        if (top[g][q] > Arch::p_offset + Arch::lazy_threshold) grows = true;
      }
    }
    if (Arch::any(grows)) {
      SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
        // From the scores again: before the first tile the maximum is so low that nothing is left of an exponent above it.
        bound(s[g], rows[g], k_scale, e[g], top[g]);
        rescale(rows[g], out[g], top[g], shared, g);
      }
    }
    const SharedRef v_at = v_tile + fetch_walk(shared, walk).v_lane;
    const auto weigh = [&](const int g, const int b, Probabilities& p) {
      float x[16];
      float offset[lanes_queries];
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) offset[q] = Arch::fma(kMagic, e[g].c[b][q], base_of(rows[g], q));
      SAGE_UNROLL for (int i = 0; i < 16; ++i) {
        const int q = Arch::query_slot(i);
        x[i] = Arch::exp2(Arch::fma(bits_as<float>(Arch::bits(s[g][b], i)), e[g].c[b][q], -offset[q]));
      }
      if constexpr (Arch::exact_lse) {
        if (a.lse) add_exact(rows[g], x, shared, g);
      }
      Arch::pack(p, x);
    };
    if constexpr (Arch::warpgroups) {
      Arch::template value_tile<out_tiles, blocks>(out[0], rows[0].sum, v_at, [&](const int b, Probabilities& p) { weigh(0, b, p); });
    } else {
      SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
        Probabilities p[kGroups];
        SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
          weigh(g, b, p[g]);
          Arch::accumulate(rows[g].sum, p[g]);
        }
        Arch::template value_block<out_tiles, kGroups, kKeys>(out, v_at, b, lane, p);
        if (crowded && b == 0) advance(tile);
      }
    }
  }

  // AMD: tiles come through registers, which are filled before a tile's work and emptied after it.
  static SAGE_FN void walk_buffers(const SageArgs& a, const SharedRef shared) {
    const Place p = place(a);
    Query query[kGroups];
    Rows rows[kGroups];
    Out out[kGroups][out_tiles];
    start_queries(a, p, query, rows, out, shared);
    const int tiles = tile_count(a, p);  // of the workgroup
    Walk walk = start_walk(a, p, query);

    typename Arch::template Copy<kDp, kKeys, threads> copy;
    copy.init(p.thread, a.k8 + static_cast<i64>(p.kv) * a.key_padded * kDp,
              static_cast<const u8*>(a.vt) + static_cast<i64>(p.kv) * kDp * a.key_padded * v_element, a.key_padded);
    const SharedRef v_shared = shared + v_start;
    const typename Arch::Seed seed = Arch::template seed<kDp>(kMagicBits);
    if (tiles > 0) {
      copy.start(0, shared, v_shared);
      copy.finish(shared, v_shared);
    }
    Arch::barrier();

    int now = 0;  // byte offset of the buffers being read
    for (int j = 0; j < tiles; ++j) {
      const int next = buffer_step - now;
      const SharedRef k_next = shared + next;
      const SharedRef v_next = v_shared + (kVBuffers == 2 ? next : 0);
      copy.start(copy.following(j, tiles), k_next, v_next);
      Arch::schedule_fence();
      if (j * kKeys < walk.wave_end) {
        work(a, p.lane, j, walk, query, rows, out, seed, shared, shared + now, v_shared + (kVBuffers == 2 ? now : 0));
      }
      if (kVBuffers == 1) Arch::barrier();
      copy.finish(k_next, v_next);
      Arch::barrier();
      now = next;
    }
    finish(a, rows, out, shared);
  }

  // NVIDIA: tiles come straight from memory, one or more ahead of the work.
  static SAGE_FN void walk_stages(const SageArgs& a, const SageTensorMap* const values, const SharedRef shared) {
    typedef typename Arch::template Tiles<kDp, kKeys, kWaves, kKBuffers> Tiles;
    const SharedRef barriers = shared + (shared_bytes - barrier_bytes);
    Query query[kGroups];
    Rows rows[kGroups];
    Out out[kGroups][out_tiles];
    typename Tiles::Source source;
    Walk walk;
    {
      const Place p = place(a);
      const int tiles = tile_count(a, p);
      source = Tiles::source(a, p.batch, p.kv - p.batch * a.kv_heads, p.kv);
      if constexpr (Arch::warpgroups) {
        Tiles::prepare(shared, barriers, source, Arch::ones);
        start_queries(a, p, query, rows, out, shared);
        Arch::wait_for_previous();
        Tiles::begin(shared, barriers, source, values, tiles);
      } else {
        Arch::wait_for_previous();
        if (tiles > 0) {
          Arch::template share_queries<kDp, queries, threads>(
              shared + (tiles_bytes), p.thread,
              a.q8 + static_cast<i64>(p.slice) * a.q_len * Arch::k_row_bytes(kDp), p.tile * queries, a.q_len);
          Tiles::begin(shared, barriers, source, values, tiles);
        }
        start_queries(a, p, query, rows, out, shared);
      }
      walk = start_walk(a, p, query);
      keep_walk(shared, walk);
      keep<state_in_shared && !Arch::warpgroups>(shared, kept_source, source);
    }
    const typename Arch::Seed seed = Arch::template seed<kDp>(kMagicBits);
    Arch::queries_arrived();
    Arch::barrier();

    const auto advance = [&](const int j) {
      Tiles::advance(shared, barriers, values, j, fetch_walk(shared, walk).where);
    };
    for (int j = 0;; ++j) {
      walk = fetch_walk(shared, walk);
      if (j >= walk.where) break;
      source = fetch<state_in_shared && !Arch::warpgroups>(shared, kept_source, source);
      Tiles::take(shared, barriers, source, j, walk.where);
      const SharedRef stage = shared + static_cast<u32>(j % kKBuffers * Tiles::stage_bytes);
      if (j * kKeys < walk.wave_end) {
        work_abreast(a, j, walk, query, rows, out, seed, shared, stage, stage + k_bytes, advance);
      } else {
        advance(j);
      }
      Tiles::release(barriers, j);
    }
    if (Arch::warpgroups) Arch::barrier();  // the other three read these Q rows too
    finish_through_shared(a, rows, out, shared);
  }

  // Of this lane's rows of Q with the mean of K, where log-sum-exp needs them.
  static SAGE_FN void load_products(const SageArgs& a, const Place& p, float (&product)[lanes_queries], const int group_query) {
    SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) product[q] = 0.0f;
    if (!a.q_mean) return;
    if constexpr (has_warpgroups<Arch>()) {
      typedef typename Arch::template Queries<kDp, true> Bf16;
      typedef typename Arch::template Queries<kDp, false> F16;
      u32x4 x[F16::passes];
      F16::load_rows(a, p.batch, p.head, group_query, x);
      a.io_type == SAGE_TYPE_BF16 ? Bf16::multiply_by_mean(a, x, p.kv, product) : F16::multiply_by_mean(a, x, p.kv, product);
    } else {
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        const int row = minimum(group_query + Arch::query_of(p.lane, q), a.q_len - 1);
        product[q] = global_load<float>(a.q_mean + (static_cast<i64>(p.slice) * a.q_len + row));
      }
    }
  }
  static SAGE_FN void store_lse(const SageArgs& a, const Place& p, const Rows& rows, const int q, const float sum, const float product, const int row) {
    const float lse_sum = Arch::exact_lse ? Arch::row_total(rows.exact.of[q]) : sum;  // by all lanes of the row
    if (row >= a.q_len || !a.lse || !Arch::writes_lse(p.lane)) return;
    const float log2_sum = rows.limits.max[q] - Arch::p_offset + Arch::log2(lse_sum);
    const float lse = sum > 0.0f ? log2_sum * 0.6931471805599453f + product : minus_infinity();
    global_store<float>(a.lse + (static_cast<i64>(p.slice) * a.q_len + row), lse);
  }

  // The same by 16 bytes a store. A wave turns its rows in the shared memory where its own Q rows were, one group at a time, half of the
  // channels at a time where it has no more room.
  static SAGE_FN void finish_through_shared(const SageArgs& a, Rows (&rows)[kGroups], Out (&out)[kGroups][out_tiles],
                                            const SharedRef shared) {
    constexpr int passes = kGroups > 1 ? 1 : 2;
    constexpr int channels = kDp / passes;
    constexpr int row_bytes = channels > 64 ? 256 : channels > 32 ? 128 : 64;
    constexpr int units = channels / 8;
    static_assert(Arch::query_tile * row_bytes <= kGroups * Arch::query_tile * Arch::k_row_bytes(kDp), "a group's rows fit where Q was");
    const Place p = place(a);
    const SharedRef own = shared + (tiles_bytes + p.wave * (kGroups * Arch::query_tile * Arch::k_row_bytes(kDp)));
    const auto place_of = [own](const int row, const u32 byte) {
      const u32 hash = row_bytes == 64 ? static_cast<u32>(row) >> 1 & 3u : static_cast<u32>(row) & 7u;
      return own + (static_cast<u32>(row) * row_bytes + (byte ^ hash * 16));
    };
    SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
      const int group_query = p.first_query + g * Arch::query_tile;
      rows[g].limits = fetch<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      if constexpr (Arch::exact_lse) rows[g].exact = fetch<state_in_shared>(shared, kept_exact + g, rows[g].exact);
      float product[lanes_queries];
      load_products(a, p, product, group_query);
      float inverse[lanes_queries];
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        const float sum = Arch::total(rows[g].sum, q);
        inverse[q] = sum > 0.0f ? Arch::reciprocal(sum) : 0.0f;
        store_lse(a, p, rows[g], q, sum, product[q], group_query + Arch::query_of(p.lane, q));
      }
      if (a.v_scaled) {  // after the division: the scale may be the end of bf16's range
        const float* const v_scale = a.v_scale + (static_cast<i64>(p.kv) * kDp + Arch::channel_of(p.lane, 0));
        SAGE_UNROLL for (int d = 0; d < out_tiles; ++d) {
          Arch::scale(out[g][d], inverse);
          Arch::scale_channels(out[g][d], global_load<float>(v_scale + d * Arch::out_tile), global_load<float>(v_scale + d * Arch::out_tile + 1));
        }
        SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) inverse[q] = 1.0f;
      }
      SAGE_UNROLL for (int pass = 0; pass < passes; ++pass) {
        Arch::wave_barrier();
        // This lane's words of its two rows: neighbouring channels of every tile, which is a unit of 16 bytes.
        const SharedRef first = place_of(Arch::query_of(p.lane, 0), static_cast<u32>(2 * Arch::channel_of(p.lane, 0)));
        if (a.io_type == SAGE_TYPE_BF16) {
          Arch::template turn<true, row_bytes>(out[g], pass * units, units, inverse, first);
        } else {
          Arch::template turn<false, row_bytes>(out[g], pass * units, units, inverse, first);
        }
        Arch::wave_barrier();
        const int mine = p.thread % Arch::wave_size;
        u16* const to = static_cast<u16*>(a.out) + (p.batch * a.out_stride.batch + p.head * a.out_stride.head);
        if (a.out_vector && a.head_dim == kDp) {
          SAGE_UNROLL for (int i = 0; i < units * Arch::query_tile / Arch::wave_size; ++i) {
            const int row = (mine + i * Arch::wave_size) / units;
            const int unit = (mine + i * Arch::wave_size) % units;
            const u32x4 words = shared_load<u32x4>(place_of(row, static_cast<u32>(unit * 16)));
            if (group_query + row < a.q_len) {
              global_store<u32x4>(to + ((group_query + row) * a.out_stride.token + pass * channels + unit * 8), words);
            }
          }
        } else {
          SAGE_ROLLED for (int i = mine; i < channels * Arch::query_tile; i += Arch::wave_size) {
            const int row = group_query + i / channels;
            const int channel = pass * channels + i % channels;
            const u16 x = shared_load<u16>(place_of(i / channels, static_cast<u32>(i % channels * 2)));
            if (row < a.q_len && channel < a.head_dim) global_store<u16>(to + (row * a.out_stride.token + channel * a.out_stride.dim), x);
          }
        }
      }
    }
  }
  // Output and log-sum-exp of this thread's queries.
  static SAGE_FN void finish(const SageArgs& a, Rows (&rows)[kGroups], const Out (&out)[kGroups][out_tiles],
                             const SharedRef shared) {
    const Place p = place(a);
    const float* const v_scale = a.v_scale + static_cast<i64>(p.kv) * kDp;
    SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
      rows[g].limits = fetch<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      if constexpr (Arch::exact_lse) rows[g].exact = fetch<state_in_shared>(shared, kept_exact + g, rows[g].exact);
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        const int row = p.first_query + g * Arch::query_tile + Arch::query_of(p.lane, q);
        const float sum = Arch::total(rows[g].sum, q);
        const float lse_sum = Arch::exact_lse ? Arch::row_total(rows[g].exact.of[q]) : sum;
        if (row < a.q_len) {
          const float inverse = sum > 0.0f ? Arch::reciprocal(sum) : 0.0f;
          const i64 at = p.batch * a.out_stride.batch + p.head * a.out_stride.head + row * a.out_stride.token;
          store_row(a, out[g], p.lane, q, inverse, v_scale, at);
          if (a.lse && Arch::writes_lse(p.lane)) {
            const i64 index = static_cast<i64>(p.slice) * a.q_len + row;
            const float log2_sum = rows[g].limits.max[q] - Arch::p_offset + Arch::log2(lse_sum);
            float lse = sum > 0.0f ? log2_sum * 0.6931471805599453f : minus_infinity();
            if (a.q_mean) lse += global_load<float>(a.q_mean + index);
            global_store<float>(a.lse + index, lse);
          }
        }
      }
    }
  }
};

}  // namespace sage_device
