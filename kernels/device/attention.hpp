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

template <class Arch, int kDp, int kPv, int kWaves, int kGroups, int kKeys, int kKBuffers, int kVBuffers>
struct Attention : AttentionStore<Arch, kDp, kPv, kWaves, kGroups, kKeys, kKBuffers, kVBuffers> {
  typedef AttentionStore<Arch, kDp, kPv, kWaves, kGroups, kKeys, kKBuffers, kVBuffers> Store;
  typedef typename Store::Lane Lane;
  typedef typename Store::Scores Scores;
  typedef typename Store::Probabilities Probabilities;
  typedef typename Store::Out Out;
  typedef typename Store::Query Query;
  typedef typename Store::Rows Rows;
  typedef typename Store::Walk Walk;
  typedef typename Store::Place Place;
  using Store::threads;
  using Store::blocks;
  using Store::lanes_queries;
  using Store::queries;
  using Store::out_tiles;
  using Store::v_element;
  using Store::k_bytes;
  using Store::state_in_shared;
  using Store::tiles_bytes;
  using Store::barrier_bytes;
  using Store::shared_bytes;
  using Store::buffer_step;
  using Store::v_start;
  using Store::kept_source;
  using Store::kept_limits;
  using Store::kept_exact;
  using Store::keep_walk;
  using Store::fetch_walk;
  using Store::place;
  using Store::finish;
  using Store::finish_through_shared;
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
    Store::template keep<state_in_shared>(shared, kept_limits + group, rows.limits);
    if constexpr (Arch::exact_lse) {
      rows.exact = Store::template fetch<state_in_shared>(shared, kept_exact + group, rows.exact);
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) rows.exact.of[q] *= alpha[q];
      Store::template keep<state_in_shared>(shared, kept_exact + group, rows.exact);
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
    rows.exact = Store::template fetch<state_in_shared>(shared, kept_exact + group, rows.exact);
    SAGE_UNROLL for (int i = 0; i < 16; ++i) rows.exact.of[Arch::query_slot(i)] += x[i];
    Store::template keep<state_in_shared>(shared, kept_exact + group, rows.exact);
  }

  // Online softmax of one query group over one tile; scores in, packed probabilities out.
  //
  // The output is divided by the sum of the rounded probabilities, so that rounding cancels where few keys dominate. Log-sum-exp would show
  // that rounding (3 % of a row with one key in fp8, 0.1 % in f16 rounded toward zero): it gets a sum of the unrounded ones, only when asked for.
  static SAGE_FN void softmax(Scores (&s)[blocks], Probabilities (&p)[blocks], Rows& rows,
                              Out (&out)[out_tiles], const float (&k_scale)[blocks], const bool masked,
                              const bool want_lse, const Lane lane, const int first_key, const SageArgs& a,
                              const int group_query, const SharedRef shared, const int group) {
    rows.limits = Store::template fetch<state_in_shared>(shared, kept_limits + group, rows.limits);
    if (masked) mask_tile(s, lane, first_key, a, group_query);
    Exponents e;
    float top[lanes_queries] = {};
    const bool grows = bound(s, rows, k_scale, e, top);
    if (Arch::any(grows)) rescale(rows, out, top, shared, group);
    float x[blocks][16];
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) exponentials(x[b], s[b], e, b, rows);
    if constexpr (Arch::exact_lse) {
      if (want_lse) {
        rows.exact = Store::template fetch<state_in_shared>(shared, kept_exact + group, rows.exact);
        SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
          SAGE_UNROLL for (int i = 0; i < 16; ++i) rows.exact.of[Arch::query_slot(i)] += x[b][i];
        }
        Store::template keep<state_in_shared>(shared, kept_exact + group, rows.exact);
      }
    }
    SAGE_UNROLL for (int b = 0; b < blocks; ++b) {
      Arch::pack(p[b], x[b]);
      Arch::accumulate(rows.sum, p[b]);
    }
    Arch::schedule_fence();
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
      Store::template keep<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      if constexpr (Arch::exact_lse) Store::template keep<state_in_shared>(shared, kept_exact + g, rows[g].exact);
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
      rows[g].limits = Store::template fetch<state_in_shared>(shared, kept_limits + g, rows[g].limits);
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
      Store::template keep<state_in_shared && !Arch::warpgroups>(shared, kept_source, source);
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
      source = Store::template fetch<state_in_shared && !Arch::warpgroups>(shared, kept_source, source);
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
};

}  // namespace sage_device
