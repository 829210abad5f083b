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

constexpr int kMagicBits = 0x4b400000;
constexpr float kMagic = 12582912.0f;
constexpr float kScaleCap = 0.25f;
constexpr float kNothing = -1e30f;  // running maximum before any key: finite, so that no inf - inf can arise
constexpr int kKeysPerScale = 32;

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

template <class Arch, int kDp, int kPv, int kWaves, int kGroups, int kKeys, int kKBuffers, int kVBuffers>
struct Attention {
  static_assert(kKBuffers == 2, "the loop alternates between two K tiles");
  static constexpr int threads = kWaves * Arch::wave_size;
  static constexpr int blocks = kKeys / kKeysPerScale;
  static constexpr int lanes_queries = Arch::queries_per_lane;
  static constexpr int queries = kWaves * kGroups * Arch::query_tile;
  static constexpr int out_tiles = kDp / Arch::out_tile;
  static constexpr int v_element = kPv == SAGE_PV_FP8 ? 1 : 2;
  static constexpr int k_bytes = kKeys * Arch::k_row_bytes(kDp);
  static constexpr int v_bytes = kDp * Arch::v_row_bytes(kKeys);
  static constexpr int q_bytes = Arch::queries_in_shared ? queries * Arch::k_row_bytes(kDp) : 0;
  // Where registers are short, each thread keeps in shared memory what the products do not need: see Kept.
  static constexpr bool state_in_shared = Arch::queries_in_shared && kGroups > 1;
  static constexpr bool copy_in_shared = state_in_shared || (Arch::queries_in_shared && kDp * v_element > 256);
  static constexpr int kept_units = (copy_in_shared ? 2 : 0) + (state_in_shared ? 2 + kGroups * (Arch::exact_lse ? 2 : 1) : 0);
  static constexpr int state_bytes = threads * kept_units * 16;
  static constexpr int shared_bytes = kKBuffers * k_bytes + kVBuffers * v_bytes + q_bytes + state_bytes;
  // Shared memory: the first K buffer, the first V buffer, the second ones, Q. Buffers of a kind that has two are `buffer_step` apart.
  static constexpr int buffer_step = k_bytes + (kVBuffers == 2 ? v_bytes : 0);
  static constexpr int v_start = kVBuffers == 2 ? k_bytes : kKBuffers * k_bytes;

  typedef typename Arch::Lane Lane;
  typedef typename Arch::Scores Scores;
  typedef typename Arch::Probabilities Probabilities;
  typedef typename Arch::template Copy<kDp, kKeys, threads> Copy;

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
    int first_query;
    int wave_end;  // uniform: end of this wave's keys
  };

  // What may lie in shared memory instead of registers, in units of 16 bytes a thread. Asking for it again is one load; what is held across
  // the products is spilled by the compiler, at a place of its choice and with a load for every word.
  enum Kept { kept_copy = 0, kept_walk = 2, kept_limits = 4, kept_exact = 4 + kGroups };

  static SAGE_FN SharedRef kept(const SharedRef shared, const int unit) {
    return shared + (shared_bytes - state_bytes + (unit * threads + Arch::thread_id()) * 16);
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

  static SAGE_FN int limit_of(const SageArgs& a, const int query) {
    if (a.mask == SAGE_MASK_NONE) return a.kv_len;
    const int shift = a.mask == SAGE_MASK_CAUSAL_BOTTOM_RIGHT ? a.kv_len - a.q_len : 0;
    return maximum(0, minimum(a.kv_len, query + shift + 1));
  }

  // Online softmax of one query group over one tile; scores in, packed probabilities out.
  //
  // The output is divided by the sum of the rounded probabilities, so that rounding cancels where few keys dominate. Log-sum-exp would show
  // that rounding (3 % of a row with one key in fp8, 0.1 % in f16 rounded toward zero): it gets a sum of the unrounded ones, only when asked for.
  static SAGE_FN void softmax(Scores (&s)[blocks], Probabilities (&p)[blocks], Rows& rows,
                              typename Arch::Out (&out)[out_tiles], const float (&k_scale)[blocks], const bool masked,
                              const bool want_lse, const Lane lane, const int first_key, const SageArgs& a,
                              const int group_query, const SharedRef shared, const int group) {
    rows.limits = fetch<state_in_shared>(shared, kept_limits + group, rows.limits);
    if (masked) {
      int limit[lanes_queries];
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        limit[q] = limit_of(a, minimum(group_query + Arch::query_of(lane, q), a.q_len - 1));
      }
      SAGE_UNROLL for (int b = 0; b < blocks; ++b) mask_block(s[b], lane, first_key + b * kKeysPerScale, limit);
    }
    float c[blocks][lanes_queries];
    float offset[blocks][lanes_queries];
    float top[lanes_queries] = {};
    bool grows = false;
    SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
      SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
        c[b][q] = Arch::min(rows.limits.scale[q] * k_scale[b], kScaleCap);
        offset[b][q] = kMagic * c[b][q];
        const float block_top = Arch::fma(block_max(s[b], q), c[b][q], -offset[b][q]);
        top[q] = b == 0 ? block_top : Arch::max(top[q], block_top);
      }
      grows = grows || top[q] > rows.limits.max[q] + Arch::lazy_threshold;
    }
    if (Arch::any(grows)) {
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
    float x[blocks][16];
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
      float shift[lanes_queries];
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) shift[q] = offset[b][q] + (rows.limits.max[q] - Arch::p_offset);
      SAGE_UNROLL for (int i = 0; i < 16; ++i) {
        const int q = Arch::query_slot(i);
        x[b][i] = Arch::exp2(Arch::fma(bits_as<float>(Arch::bits(s[b], i)), c[b][q], -shift[q]));
      }
    }
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

  static SAGE_FN void store_row(const SageArgs& a, const typename Arch::Out (&out)[out_tiles], const Lane lane, const int q,
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

  static SAGE_FN void run(const SageArgs& a, const SharedRef shared) {
    const Place p = place(a);
    const int thread = p.thread;
    const int wave = p.wave;
    const Lane lane = p.lane;
    const int first_query = p.first_query;

    typename Arch::template Query<kDp> query[kGroups];
    Rows rows[kGroups];
    typename Arch::Out out[kGroups][out_tiles];
    const SharedRef q_shared = shared + (kKBuffers * k_bytes + kVBuffers * v_bytes);
    SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
      const int group_query = first_query + g * Arch::query_tile;
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        const int row = minimum(group_query + Arch::query_of(lane, q), a.q_len - 1);
        rows[g].limits.scale[q] = global_load<float>(a.q_scale + static_cast<i64>(p.slice) * a.q_len + row);
        rows[g].limits.max[q] = kNothing;
        rows[g].exact.of[q] = 0.0f;
      }
      keep<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      if constexpr (Arch::exact_lse) keep<state_in_shared>(shared, kept_exact + g, rows[g].exact);
      const int row = minimum(group_query + Arch::query_of(lane, 0), a.q_len - 1);
      Arch::template load_query<kDp>(query[g], lane, a.q8 + (static_cast<i64>(p.slice) * a.q_len + row) * kDp,
                                     q_shared + (wave * kGroups + g) * Arch::query_tile * Arch::k_row_bytes(kDp));
      Arch::clear(rows[g].sum);
      SAGE_UNROLL for (int d = 0; d < out_tiles; ++d) Arch::clear(out[g][d]);
    }

    const int last_row = minimum(p.tile * queries + queries, a.q_len) - 1;
    const int tiles = (limit_of(a, last_row) + kKeys - 1) / kKeys;  // of the workgroup
    Walk walk;
    walk.wave_end = limit_of(a, minimum(first_query + kGroups * Arch::query_tile, a.q_len) - 1);
    walk.unmasked_end = limit_of(a, first_query);
    walk.first_query = first_query;
    if constexpr (Arch::queries_in_shared) walk.query = query[0].at;

    Copy copy;
    copy.init(thread, a.k8 + static_cast<i64>(p.kv) * a.key_padded * kDp,
              static_cast<const u8*>(a.vt) + static_cast<i64>(p.kv) * kDp * a.key_padded * v_element, a.key_padded);
    walk.k_scales = a.k_scale + static_cast<i64>(p.kv) * (a.key_padded / kKeysPerScale);
    const SharedRef v_shared = shared + v_start;
    walk.k_lane = Arch::k_lane(lane, kDp);
    walk.v_lane = Arch::v_lane(lane, kKeys);
    keep<state_in_shared>(shared, kept_walk, walk);
    if constexpr (copy_in_shared) keep<copy_in_shared>(shared, kept_copy, copy);
    const typename Arch::Seed seed = Arch::template seed<kDp>(kMagicBits);
    if (tiles > 0) {
      if constexpr (Arch::queries_in_shared) {
        Arch::template share_queries<kDp, queries, threads>(q_shared, thread, a.q8 + static_cast<i64>(p.slice) * a.q_len * kDp,
                                                            p.tile * queries, a.q_len);
      }
      copy.start(0, shared, v_shared);
      copy.finish(shared, v_shared);
    }
    Arch::barrier();

    int now = 0;  // byte offset of the buffers being read
    for (int j = 0; j < tiles; ++j) {
      const int next = buffer_step - now;
      const SharedRef k_next = shared + next;
      const SharedRef v_next = v_shared + (kVBuffers == 2 ? next : 0);
      if constexpr (copy_in_shared) copy = fetch<copy_in_shared>(shared, kept_copy, copy);
      copy.start(Copy::following(j, tiles), k_next, v_next);
      Arch::schedule_fence();
      const int first_key = j * kKeys;
      if (first_key < fetch<state_in_shared>(shared, kept_walk, walk).wave_end) {
        walk = fetch<state_in_shared>(shared, kept_walk, walk);
        const SharedRef k_at = shared + (now + walk.k_lane);
        if constexpr (Arch::queries_in_shared) query[0].at = walk.query;
        Scores s[blocks][kGroups];
        SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
          SAGE_UNROLL for (int g = 0; g < kGroups; ++g) Arch::start(s[b][g], seed);
          Arch::template score_block<kDp, kGroups>(s[b], k_at, b, lane, query);
        }
        float k_scale[blocks];
        SAGE_UNROLL for (int b = 0; b < blocks; ++b) k_scale[b] = uniform_load<float>(walk.k_scales + j * blocks + b);
        walk = fetch<state_in_shared>(shared, kept_walk, walk);
        const bool masked = first_key + kKeys > walk.unmasked_end;
        Probabilities weights[blocks][kGroups];
        SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
          Scores group_scores[blocks];
          Probabilities group_p[blocks];
          SAGE_UNROLL for (int b = 0; b < blocks; ++b) group_scores[b] = s[b][g];
          softmax(group_scores, group_p, rows[g], out[g], k_scale, masked, a.lse != nullptr, lane, first_key, a,
                  walk.first_query + g * Arch::query_tile, shared, g);
          SAGE_UNROLL for (int b = 0; b < blocks; ++b) weights[b][g] = group_p[b];
        }
        const SharedRef v_at = v_shared + ((kVBuffers == 2 ? now : 0) + fetch<state_in_shared>(shared, kept_walk, walk).v_lane);
        SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
          Arch::template value_block<out_tiles, kGroups, kKeys>(out, v_at, b, lane, weights[b]);
        }
      }
      if (kVBuffers == 1) Arch::barrier();
      copy.finish(k_next, v_next);
      Arch::barrier();
      now = next;
    }

    finish(a, rows, out, shared);
  }

  // Output and log-sum-exp of this thread's queries.
  static SAGE_FN void finish(const SageArgs& a, Rows (&rows)[kGroups], const typename Arch::Out (&out)[kGroups][out_tiles],
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
