// Rows of the caller's Q, K and V on NVIDIA: a warp takes a few rows at a time, a lane eight neighbouring channels of one, and makes int8 of them.
// The prologue reads all three so, the attention kernels of hopper.hpp their own Q.
#if defined(SAGE_ON_NVIDIA) || defined(SAGE_ON_HOST)

namespace sage_device {

// kBf16: type of the caller's tensors.
template <class Ops, int kDp, bool kBf16>
struct NvidiaRows {
  static constexpr int row_bytes = Ops::k_row_bytes(kDp);  // of int8 rows
  static constexpr int lanes = row_bytes / 8;              // that share a row, eight channels each
  static constexpr int rows = 32 / lanes;                  // of a warp at a time

  static SAGE_FN int lane() { return Ops::thread_id() & 31; }
  static SAGE_FN int warp() { return Ops::thread_id() / 32; }
  static SAGE_FN int lane_channel() { return lane() % lanes * 8; }

  // ---- Eight neighbouring channels of a token, zero beyond the head dim and for rows that are not there.
  struct Rows {
    const u16* base;
    i64 token;
    i64 dim;
    int vector;
    int head_dim;
    int length;
  };
  static SAGE_FN Rows rows_of(const SageArgs& a, const void* tensor, const SageStrides& stride, const int vector, const int length,
                              const int batch, const int head) {
    return {static_cast<const u16*>(tensor) + (batch * stride.batch + head * stride.head), stride.token, stride.dim, vector, a.head_dim,
            length};
  }
  static SAGE_FN u32x4 load(const Rows& from, const int row, const int channel) {
    u32x4 words = {};
    if (row >= from.length) return words;
    const u16* const at = from.base + static_cast<i64>(row) * from.token;
    if (from.vector && channel + 8 <= from.head_dim) return global_load<u32x4>(at + channel);
    const u16* element = at + channel * from.dim;
    SAGE_UNROLL for (int e = 0; e < 8; ++e) {
      const u32 x = channel + e < from.head_dim ? global_load<u16>(element) : static_cast<u16>(0);
      words[e / 2] |= x << (e % 2 * 16);
      element += from.dim;
    }
    return words;
  }
  static SAGE_FN float value(const u32x4& words, const int e) {
    const u32 word = words[e / 2];
    if constexpr (kBf16) return bits_as<float>(e % 2 == 0 ? word << 16 : word & 0xffff0000u);
    return Ops::f16_to_f32(static_cast<u16>(e % 2 == 0 ? word : word >> 16));
  }

  // ---- int8 rows
  static SAGE_FN u32x2 pack(const float (&x)[8], const float inverse) {
    u32x2 packed = {};
    SAGE_UNROLL for (int w = 0; w < 2; ++w) {
      u32 bits[4];  // rounded to nearest even by the float's own rounding
      SAGE_UNROLL for (int e = 0; e < 4; ++e) bits[e] = bits_as<u32>(x[4 * w + e] * inverse + kMagic);
      packed[w] = ptx_prmt(ptx_prmt(bits[0], bits[1], 0x0040), ptx_prmt(bits[2], bits[3], 0x0040), 0x5410);
    }
    return packed;
  }
  // Rows of Q, of each of which this lane has eight channels: their scales, in all lanes of a row, and their int8. The rows' maxima go through
  // the lanes side by side: one by one each would wait for the one before.
  template <int kCount>
  static SAGE_FN void query_scales(const SageArgs& a, const u32x4 (&words)[kCount], float (&scale)[kCount]) {
    SAGE_UNROLL for (int i = 0; i < kCount; ++i) {
      u32 top = words[i][0] & 0x7fff7fffu;  // of pairs of channels
      SAGE_UNROLL for (int w = 1; w < 4; ++w) {
        const u32 other = words[i][w] & 0x7fff7fffu;
        top = kBf16 ? ptx_max_bf16x2(top, other) : ptx_max_f16x2(top, other);
      }
      const u32x4 pair = {top, 0, 0, 0};
      scale[i] = ptx_max_abs(ptx_max_abs(0.0f, value(pair, 0)), value(pair, 1));
    }
    SAGE_UNROLL for (int step = 1; step < lanes; step *= 2) {
      SAGE_UNROLL for (int i = 0; i < kCount; ++i) scale[i] = ptx_max_abs(scale[i], Ops::exchange(scale[i], step));
    }
    const float unit = absolute(a.sm_scale * kLog2E);
    SAGE_UNROLL for (int i = 0; i < kCount; ++i) scale[i] = round_scale(scale[i] * unit * (1.0f / 127.0f));
  }
  static SAGE_FN float query_inverse(const SageArgs& a, const float scale) { return a.sm_scale * kLog2E / scale; }
  static SAGE_FN u32x2 pack_query(const u32x4& words, const float inverse) {
    float x[8];
    SAGE_UNROLL for (int e = 0; e < 8; ++e) x[e] = value(words, e);
    return pack(x, inverse);
  }
  // The row's product with `mean`, in all of its lanes.
  static SAGE_FN float product_with(const u32x4& words, const float (&mean)[8]) {
    float product = 0.0f;
    SAGE_UNROLL for (int e = 0; e < 8; ++e) product += value(words, e) * mean[e];
    SAGE_UNROLL for (int step = 1; step < lanes; step *= 2) product += Ops::exchange(product, step);
    return product;
  }
};

// The 16 rows of Q of one warp, from `first` on; those beyond the last are the last one again, computed with and thrown away.
template <class Ops, int kDp, bool kBf16>
struct WarpQueries : NvidiaRows<Ops, kDp, kBf16> {
  typedef NvidiaRows<Ops, kDp, kBf16> Base;
  static constexpr int passes = Ops::query_tile / Base::rows;

  static SAGE_FN typename Base::Rows rows(const SageArgs& a, const int batch, const int head) {
    return Base::rows_of(a, a.q, a.q_stride, a.q_vector, a.q_len, batch, head);
  }
  // What the passes found for their rows, one for all lanes of a row: lane i of a row takes that of pass i.
  static SAGE_FN float of_lane(const float (&of_row)[passes]) {
    float mine = of_row[0];
    SAGE_UNROLL for (int i = 1; i < passes; ++i) {
      if (Base::lane() % Base::lanes == i) mine = of_row[i];
    }
    return mine;
  }
  static SAGE_FN float from_lane(const float mine, const int lane) { return bits_as<float>(ptx_shfl(bits_as<u32>(mine), lane)); }
  // Those of rows g and g + 8, which are this lane's in the products (nvidia.hpp).
  static SAGE_FN void hand_over(float (&of_rows)[2], const float mine) {
    const int g = Base::lane() / 4;
    SAGE_UNROLL for (int half = 0; half < 2; ++half) {
      of_rows[half] = from_lane(mine, g % Base::rows * Base::lanes + (g + 8 * half) / Base::rows);
    }
  }
  // This lane's channels of the rows, whichever type they have.
  static SAGE_FN void load_rows(const SageArgs& a, const int batch, const int head, const int first, u32x4 (&x)[passes]) {
    const typename Base::Rows q = rows(a, batch, head);
    const int channel = Base::lane_channel();
    if (q.vector && a.head_dim == kDp) {  // all on their way before the first is needed
      SAGE_UNROLL for (int i = 0; i < passes; ++i) {
        x[i] = u32x4{};
        if (channel < kDp) x[i] = global_load<u32x4>(q.base + (static_cast<i64>(row_of(a, first, i)) * q.token + channel));
      }
    } else {
      SAGE_UNROLL for (int i = 0; i < passes; ++i) x[i] = Base::load(q, row_of(a, first, i), channel);
    }
  }
  // int8 to `to` in shared memory, and the rows' scales.
  static SAGE_FN void make(const SageArgs& a, const u32x4 (&x)[passes], const SharedRef to, float (&scale)[2]) {
    const int channel = Base::lane_channel();
    float of_row[passes];
    Base::query_scales(a, x, of_row);
    const float mine = of_lane(of_row);
    hand_over(scale, mine);
    const float inverse = Base::query_inverse(a, mine);  // a division a lane, not one a row
    SAGE_UNROLL for (int i = 0; i < passes; ++i) {
      const int row = Base::lane() / Base::lanes + i * Base::rows;
      const u32 byte = static_cast<u32>(channel) ^ Ops::k_hash(static_cast<u32>(row), kDp) * 16;
      shared_store<u32x2>(to + (static_cast<u32>(row * Base::row_bytes) + byte),
                          Base::pack_query(x[i], from_lane(inverse, Base::lane() / Base::lanes * Base::lanes + i)));
    }
  }
  static SAGE_FN int row_of(const SageArgs& a, const int first, const int i) {
    return minimum(first + Base::lane() / Base::lanes + i * Base::rows, a.q_len - 1);
  }
  // For log-sum-exp: the products of the rows with the mean of K, which the prologue has made.
  static SAGE_FN void multiply_by_mean(const SageArgs& a, const u32x4 (&x)[passes], const int kv, float (&product)[2]) {
    const int channel = Base::lane_channel();
    float mean[8];
    SAGE_UNROLL for (int e = 0; e < 8; ++e) {
      mean[e] = channel < kDp ? global_load<float>(a.k_mean + (static_cast<i64>(kv) * kDp + channel + e)) : 0.0f;
    }
    float of_row[passes];
    SAGE_UNROLL for (int i = 0; i < passes; ++i) of_row[i] = Base::product_with(x[i], mean) * a.sm_scale;
    hand_over(product, of_lane(of_row));
  }
};

}  // namespace sage_device

#endif
