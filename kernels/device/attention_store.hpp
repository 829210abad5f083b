// What an attention workgroup writes: O divided by the row sums, in the caller's type and strides, and log-sum-exp.

namespace sage_device {

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

template <class Arch, int kDp, int kPv, int kWaves, int kGroups, int kKeys, int kKBuffers, int kVBuffers>
struct AttentionStore : AttentionRoom<Arch, kDp, kPv, kWaves, kGroups, kKeys, kKBuffers, kVBuffers> {
  typedef AttentionRoom<Arch, kDp, kPv, kWaves, kGroups, kKeys, kKBuffers, kVBuffers> Room;
  typedef typename Room::Lane Lane;
  typedef typename Room::Out Out;
  typedef typename Room::Rows Rows;
  typedef typename Room::Place Place;
  using Room::lanes_queries;
  using Room::queries;
  using Room::out_tiles;
  using Room::state_in_shared;
  using Room::tiles_bytes;
  using Room::kept_limits;
  using Room::kept_exact;
  using Room::place;
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
      rows[g].limits = Room::template fetch<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      if constexpr (Arch::exact_lse) rows[g].exact = Room::template fetch<state_in_shared>(shared, kept_exact + g, rows[g].exact);
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
      rows[g].limits = Room::template fetch<state_in_shared>(shared, kept_limits + g, rows[g].limits);
      if constexpr (Arch::exact_lse) rows[g].exact = Room::template fetch<state_in_shared>(shared, kept_exact + g, rows[g].exact);
      const int group_query = p.first_query + g * Arch::query_tile;
      float product[lanes_queries];
      load_products(a, p, product, group_query);
      SAGE_UNROLL for (int q = 0; q < lanes_queries; ++q) {
        const int row = group_query + Arch::query_of(p.lane, q);
        const float sum = Arch::total(rows[g].sum, q);
        store_lse(a, p, rows[g], q, sum, product[q], row);
        if (row < a.q_len) {
          const float inverse = sum > 0.0f ? Arch::reciprocal(sum) : 0.0f;
          const i64 at = p.batch * a.out_stride.batch + p.head * a.out_stride.head + row * a.out_stride.token;
          store_row(a, out[g], p.lane, q, inverse, v_scale, at);
        }
      }
    }
  }
};

}  // namespace sage_device
