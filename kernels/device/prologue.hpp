// What happens to Q, K and V before attention: statistics, scales, int8, transpose.
//
// Three kernels. sage_statistics sums K and takes the maximum of |V| per channel over chunks of 256 keys; sage_finalise turns the
// partial results into the channel means of K and the channel scales of V, always in the same order, so results do not depend on the
// schedule; sage_quantise writes everything the attention kernel reads: int8 Q with a scale per token, int8 K minus its channel mean
// with a scale per 32 keys, V transposed. Subtracting the mean ("smoothing") shifts all scores of a query by the same amount, q . mean,
// which softmax does not see and log-sum-exp gets back.
//
// Scales are rounded up to 10 significant bits: attention.hpp says why.

namespace sage_device {

constexpr int kPrologueThreads = 256;
constexpr int kQuantiseRows = 32;
constexpr int kChunkKeys = 256;
constexpr int kTransposeKeys = 64;

template <class Ops>
struct Prologue {
  // Eight neighbouring channels of one token as floats, zero beyond the head dim.
  static SAGE_FN void load_raw(u16 (&x)[8], const void* tensor, const i64 row, const i64 dim_stride, const int channel,
                               const int head_dim, const int vector) {
    const u16* const at = static_cast<const u16*>(tensor) + row;
    if (vector && channel + 8 <= head_dim) {
      const u32x4 words = global_load<u32x4>(at + channel);
      SAGE_UNROLL for (int e = 0; e < 8; ++e) x[e] = static_cast<u16>(words[e / 2] >> (e % 2 * 16));
    } else {
      SAGE_UNROLL for (int e = 0; e < 8; ++e) {
        x[e] = channel + e < head_dim ? global_load<u16>(at + (channel + e) * dim_stride) : static_cast<u16>(0);
      }
    }
  }
  static SAGE_FN float to_float(const u16 x, const int type) {
    return type == SAGE_TYPE_BF16 ? bits_as<float>(static_cast<u32>(x) << 16) : Ops::f16_to_f32(x);
  }
  static SAGE_FN void load(float (&x)[8], const void* tensor, const i64 row, const i64 dim_stride, const int channel,
                           const int head_dim, const int vector, const int type) {
    u16 raw[8];
    load_raw(raw, tensor, row, dim_stride, channel, head_dim, vector);
    SAGE_UNROLL for (int e = 0; e < 8; ++e) x[e] = to_float(raw[e], type);
  }

  // ---- sage_statistics
  static constexpr int statistics_shared = 2 * 8 * 256 * 4;  // [2][rows][dp] floats, rows * dp <= 2048

  static SAGE_FN void statistics(const SageArgs& a, const SharedRef shared) {
    const int thread = Ops::thread_id();
    const int kv = Ops::workgroup_id() / a.kv_chunks;
    const int chunk = Ops::workgroup_id() - kv * a.kv_chunks;
    const int batch = kv / a.kv_heads;
    const int head = kv - batch * a.kv_heads;
    const int per_row = a.dp / 8;
    const int rows = kPrologueThreads / per_row;
    const int row = thread / per_row;
    const int channel = (thread - row * per_row) * 8;
    const int end = minimum(a.kv_len, (chunk + 1) * kChunkKeys);
    const float weight = 1.0f / static_cast<float>(a.kv_len);
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    float top[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (row < rows) {
      for (int key = chunk * kChunkKeys + row; key < end; key += rows) {
        float x[8];
        if (a.k_mean) {
          const i64 at = batch * a.k_stride.batch + head * a.k_stride.head + key * a.k_stride.token;
          load(x, a.k, at, a.k_stride.dim, channel, a.head_dim, a.k_vector, a.io_type);
          // Weighted before the sum: a sum of values near the end of bf16's range would overflow.
          SAGE_UNROLL for (int e = 0; e < 8; ++e) sum[e] += x[e] * weight;
        }
        if (a.v_scaled) {
          const i64 at = batch * a.v_stride.batch + head * a.v_stride.head + key * a.v_stride.token;
          load(x, a.v, at, a.v_stride.dim, channel, a.head_dim, a.v_vector, a.io_type);
          SAGE_UNROLL for (int e = 0; e < 8; ++e) top[e] = maximum(top[e], absolute(x[e]));
        }
      }
      SAGE_UNROLL for (int e = 0; e < 8; ++e) {
        shared_store<float>(shared + (row * a.dp + channel + e) * 4, sum[e]);
        shared_store<float>(shared + ((rows + row) * a.dp + channel + e) * 4, top[e]);
      }
    }
    Ops::barrier();
    if (thread < a.dp) {
      float channel_sum = 0.0f;
      float channel_top = 0.0f;
      for (int r = 0; r < rows; ++r) {
        channel_sum += shared_load<float>(shared + (r * a.dp + thread) * 4);
        channel_top = maximum(channel_top, shared_load<float>(shared + ((rows + r) * a.dp + thread) * 4));
      }
      float* const out = a.partial + (static_cast<i64>(kv) * a.kv_chunks + chunk) * 2 * a.dp + thread;
      global_store<float>(out, channel_sum);
      global_store<float>(out + a.dp, channel_top);
    }
  }

  // ---- sage_finalise
  // fp8: the channel's maximum becomes the largest fp8 number. f16 (bf16 input): a power of two that brings the maximum to 2^14..2^15, so that
  // neither large nor small channels leave f16's range and no bit is lost.
  static SAGE_FN float value_scale(const float top, const int pv_type) {
    if (!(top > 0.0f)) return 1.0f;
    if (pv_type == SAGE_PV_FP8) return maximum(minimum(top, kLargest) / Ops::fp8_max, 1e-30f);
    const int exponent = static_cast<int>(bits_as<u32>(top) >> 23);
    return bits_as<float>(static_cast<u32>(maximum(exponent - 14, 1)) << 23);
  }

  static SAGE_FN void finalise(const SageArgs& a) {
    const int channel = Ops::thread_id();
    const int kv = Ops::workgroup_id();
    if (channel >= a.dp) return;
    float sum = 0.0f;
    float top = 0.0f;
    const float* partial = a.partial + static_cast<i64>(kv) * a.kv_chunks * 2 * a.dp + channel;
    for (int chunk = 0; chunk < a.kv_chunks; ++chunk) {
      sum += global_load<float>(partial);
      top = maximum(top, global_load<float>(partial + a.dp));
      partial += 2 * a.dp;
    }
    if (a.k_mean) global_store<float>(a.k_mean + static_cast<i64>(kv) * a.dp + channel, sum);
    if (a.v_scaled) global_store<float>(a.v_scale + static_cast<i64>(kv) * a.dp + channel, value_scale(top, a.pv_type));
  }

  // ---- sage_quantise, Q and K
  // Shared floats: [2][32 rows][32] partial maxima and dot products, then [32] row maxima.
  static constexpr int quantise_shared = (2 * kQuantiseRows * 32 + kQuantiseRows) * 4;

  static SAGE_FN u32 to_int8(const float x) {  // round to nearest even by the float's own rounding
    return bits_as<u32>(x + 12582912.0f) & 0xffu;
  }

  // Q and K take one path with a uniform flag: as two instances the scalars of both would not fit the scalar registers of gfx9.
  template <int kDp>
  static SAGE_FN void quantise_rows(const SageArgs& a, const bool is_query, const int block, const SharedRef shared) {
    constexpr int per_row = kDp / 8;
    constexpr int rows = kPrologueThreads / per_row;
    constexpr int passes = (kQuantiseRows + rows - 1) / rows;
    const int thread = Ops::thread_id();
    const int length = is_query ? a.q_len : a.kv_len;
    const int heads = is_query ? a.q_heads : a.kv_heads;
    const int stored = is_query ? a.q_len : a.key_padded;
    const int per_slice = (stored + kQuantiseRows - 1) / kQuantiseRows;
    const int slice = block / per_slice;
    const int first = (block - slice * per_slice) * kQuantiseRows;
    const int batch = slice / heads;
    const int head = slice - batch * heads;
    const int kv = is_query ? batch * a.kv_heads + head / (a.q_heads / a.kv_heads) : slice;
    const SageStrides stride = is_query ? a.q_stride : a.k_stride;
    const void* const tensor = is_query ? a.q : a.k;
    const int vector = is_query ? a.q_vector : a.k_vector;
    const i64 base = batch * stride.batch + head * stride.head;
    const int lane_row = thread / per_row;
    const int part = thread - lane_row * per_row;
    const int channel = part * 8;
    const bool dot = is_query && a.q_mean;

    float mean[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (a.k_mean && (!is_query || dot)) {
      SAGE_UNROLL for (int e = 0; e < 8; ++e) mean[e] = global_load<float>(a.k_mean + static_cast<i64>(kv) * kDp + channel + e);
    }
    float x[passes][8];
    SAGE_UNROLL for (int p = 0; p < passes; ++p) {
      const int local = lane_row + p * rows;
      const int row = first + local;
      float top = 0.0f;
      float product = 0.0f;
      SAGE_UNROLL for (int e = 0; e < 8; ++e) x[p][e] = 0.0f;
      if (lane_row < rows && local < kQuantiseRows) {
        if (row < length) {
          load(x[p], tensor, base + row * stride.token, stride.dim, channel, a.head_dim, vector, a.io_type);
          SAGE_UNROLL for (int e = 0; e < 8; ++e) {
            product += x[p][e] * mean[e];
            if (!is_query) x[p][e] = maximum(minimum(x[p][e] - mean[e], kLargest), -kLargest);
            top = maximum(top, absolute(x[p][e]));
          }
        }
        shared_store<float>(shared + (local * 32 + part) * 4, top);
        if (dot) shared_store<float>(shared + ((kQuantiseRows + local) * 32 + part) * 4, product);
      }
    }
    Ops::barrier();

    const float unit = is_query ? a.sm_scale * kLog2E : 1.0f;
    const SharedRef row_top = shared + 2 * kQuantiseRows * 32 * 4;
    if (thread < kQuantiseRows) {
      float top = 0.0f;
      float product = 0.0f;
      for (int i = 0; i < per_row; ++i) {
        top = maximum(top, shared_load<float>(shared + (thread * 32 + i) * 4));
        if (dot) product += shared_load<float>(shared + ((kQuantiseRows + thread) * 32 + i) * 4);
      }
      shared_store<float>(row_top + thread * 4, top);
      if (is_query && first + thread < length) {
        const i64 index = static_cast<i64>(slice) * a.q_len + first + thread;
        global_store<float>(a.q_scale + index, round_scale(top * absolute(unit) * (1.0f / 127.0f)));
        if (dot) global_store<float>(a.q_mean + index, product * a.sm_scale);
      }
    }
    Ops::barrier();

    float block_top = 0.0f;
    if (!is_query) {
      for (int i = 0; i < kQuantiseRows; ++i) block_top = maximum(block_top, shared_load<float>(row_top + i * 4));
      if (thread == 0) {
        const i64 index = (static_cast<i64>(slice) * a.key_padded + first) / kQuantiseRows;
        global_store<float>(a.k_scale + index, round_scale(block_top * (1.0f / 127.0f)));
      }
    }
    signed char* const out = is_query ? a.q8 : a.k8;
    SAGE_UNROLL for (int p = 0; p < passes; ++p) {
      const int local = lane_row + p * rows;
      const int row = first + local;
      if (lane_row < rows && local < kQuantiseRows && row < stored) {
        const float top = is_query ? shared_load<float>(row_top + local * 4) : block_top;
        const float inverse = unit / round_scale(top * absolute(unit) * (1.0f / 127.0f));
        u32x2 packed = {};
        SAGE_UNROLL for (int e = 0; e < 8; ++e) packed[e / 4] |= to_int8(x[p][e] * inverse) << (e % 4 * 8);
        global_store<u32x2>(out + (static_cast<i64>(slice) * stored + row) * kDp + channel, packed);
      }
    }
  }

  // ---- sage_quantise, V
  // A tile of 64 keys goes through shared memory as 2-byte elements; a row of words has one word more than it needs, so that reading 8 keys of
  // one channel meets different banks.
  static constexpr int transpose_shared = kTransposeKeys * (256 / 2 + 1) * 4;

  template <int kDp>
  static SAGE_FN void transpose(const SageArgs& a, const int block, const SharedRef shared) {
    constexpr int per_row = kDp / 8;
    constexpr int rows = kPrologueThreads / per_row;
    constexpr int row_bytes = (kDp / 2 + 1) * 4;
    const int thread = Ops::thread_id();
    const int per_slice = a.key_padded / kTransposeKeys;
    const int slice = block / per_slice;
    const int first = (block - slice * per_slice) * kTransposeKeys;
    const int batch = slice / a.kv_heads;
    const int head = slice - batch * a.kv_heads;
    const i64 base = batch * a.v_stride.batch + head * a.v_stride.head;
    const int lane_row = thread / per_row;
    const int channel = (thread - lane_row * per_row) * 8;
    if (lane_row < rows) {
      for (int local = lane_row; local < kTransposeKeys; local += rows) {
        const int key = first + local;
        u16 x[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        if (key < a.kv_len) load_raw(x, a.v, base + key * a.v_stride.token, a.v_stride.dim, channel, a.head_dim, a.v_vector);
        SAGE_UNROLL for (int w = 0; w < 4; ++w) {
          shared_store<u32>(shared + (local * row_bytes + channel * 2 + w * 4), x[2 * w] | static_cast<u32>(x[2 * w + 1]) << 16);
        }
      }
    }
    Ops::barrier();
    constexpr int runs = kTransposeKeys / 8;
    SAGE_UNROLL for (int i = 0; i < kDp * runs / kPrologueThreads; ++i) {
      const int index = thread + i * kPrologueThreads;
      const int out_channel = index / runs;
      const int run = index % runs * 8;
      u16 x[8];
      SAGE_UNROLL for (int e = 0; e < 8; ++e) x[e] = shared_load<u16>(shared + ((run + e) * row_bytes + out_channel * 2));
      const i64 at = (static_cast<i64>(slice) * kDp + out_channel) * a.key_padded + first + run;
      if (a.pv_type == SAGE_PV_FP8) {
        const float inverse = 1.0f / global_load<float>(a.v_scale + static_cast<i64>(slice) * kDp + out_channel);
        float y[8];
        SAGE_UNROLL for (int e = 0; e < 8; ++e) {
          y[e] = maximum(minimum(to_float(x[e], a.io_type) * inverse, Ops::fp8_max), -Ops::fp8_max);
        }
        u32x2 packed = {};
        packed[0] = Ops::pack_fp8(y[0], y[1], y[2], y[3]);
        packed[1] = Ops::pack_fp8(y[4], y[5], y[6], y[7]);
        global_store<u32x2>(static_cast<u8*>(a.vt) + at, packed);
      } else {
        u32x4 packed = {};
        const float inverse = a.v_scaled ? 1.0f / global_load<float>(a.v_scale + static_cast<i64>(slice) * kDp + out_channel) : 1.0f;
        SAGE_UNROLL for (int w = 0; w < 4; ++w) {
          const u16 low = a.v_scaled ? Ops::f32_to_f16(to_float(x[2 * w], a.io_type) * inverse) : x[2 * w];
          const u16 high = a.v_scaled ? Ops::f32_to_f16(to_float(x[2 * w + 1], a.io_type) * inverse) : x[2 * w + 1];
          packed[w] = low | static_cast<u32>(high) << 16;
        }
        global_store<u32x4>(static_cast<u16*>(a.vt) + at, packed);
      }
    }
  }

  static constexpr int shared_bytes = transpose_shared > quantise_shared ? transpose_shared : quantise_shared;

  template <int kDp>
  static SAGE_FN void quantise(const SageArgs& a, const SharedRef shared) {
    const int block = Ops::workgroup_id();
    if (block < a.q_blocks + a.k_blocks) {
      const bool is_query = block < a.q_blocks;
      quantise_rows<kDp>(a, is_query, is_query ? block : block - a.q_blocks, shared);
    } else {
      transpose<kDp>(a, block - a.q_blocks - a.k_blocks, shared);
    }
  }
};

}  // namespace sage_device
