// The prologue on NVIDIA: what prologue.hpp does, at the speed of copying, in two launches.
//
// sage_statistics takes what needs no statistics along: Q (unless log-sum-exp wants its product with the mean of K) and V^T (unless V is
// scaled). Its largest blocks, those that read K, come first. sage_quantise does the rest. The partial sums of a slice are few (kv_chunks) and
// every block of sage_quantise adds them up by itself, always in the same order. Q and K stay in registers; V^T goes through shared memory
// once, as whole words. For the kernels of hopper.hpp there is no Q, and V is rows, if it must be touched at all (plan.hpp, fill_args()).
#if defined(SAGE_ON_NVIDIA) || defined(SAGE_ON_HOST)

namespace sage_device {

// kBf16: type of the caller's tensors.
template <class Ops, int kDp, bool kBf16>
struct NvidiaPrologue : NvidiaRows<Ops, kDp, kBf16> {
  typedef Prologue<Ops> Common;
  typedef NvidiaRows<Ops, kDp, kBf16> Base;
  typedef typename Base::Rows Rows;
  using Base::lane;
  using Base::lane_channel;
  using Base::lanes;
  using Base::load;
  using Base::pack;
  using Base::row_bytes;
  using Base::rows;
  using Base::rows_of;
  using Base::value;
  using Base::warp;
  static constexpr int threads = 256;
  static constexpr int warps = threads / 32;
  static constexpr int in_flight = 4;  // rows that a lane loads before it uses the first

  // ---- sage_statistics: sums of K and maxima of |V| over a chunk of keys
  static constexpr int statistics_rows = threads / lanes;

  static SAGE_FN void statistics(const SageArgs& a, const int block, const SharedRef shared) {
    const int kv = block / a.kv_chunks;
    const int chunk = block - kv * a.kv_chunks;
    const int batch = kv / a.kv_heads;
    const int head = kv - batch * a.kv_heads;
    const int keys = (a.kv_len + a.kv_chunks - 1) / a.kv_chunks;
    const int end = minimum(a.kv_len, (chunk + 1) * keys);
    const int row = Ops::thread_id() / lanes;
    const int channel = lane_channel();
    const float weight = 1.0f / static_cast<float>(a.kv_len);
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    float top[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const Rows k = rows_of(a, a.k, a.k_stride, a.k_vector, end, batch, head);
    const Rows v = rows_of(a, a.v, a.v_stride, a.v_vector, end, batch, head);
    for (int first = chunk * keys + row; first < end; first += in_flight * statistics_rows) {
      if (a.k_mean) {
        u32x4 x[in_flight];
        SAGE_UNROLL for (int i = 0; i < in_flight; ++i) x[i] = load(k, first + i * statistics_rows, channel);
        // Weighted before the sum: a sum of values near the end of bf16's range would overflow.
        SAGE_UNROLL for (int i = 0; i < in_flight; ++i) {
          SAGE_UNROLL for (int e = 0; e < 8; ++e) sum[e] = Ops::fma(value(x[i], e), weight, sum[e]);
        }
      }
      if (a.v_scaled) {
        u32x4 x[in_flight];
        SAGE_UNROLL for (int i = 0; i < in_flight; ++i) x[i] = load(v, first + i * statistics_rows, channel);
        SAGE_UNROLL for (int i = 0; i < in_flight; ++i) {
          SAGE_UNROLL for (int e = 0; e < 8; ++e) top[e] = ptx_max_abs(top[e], value(x[i], e));
        }
      }
    }
    // [2][rows][channels] floats
    const SharedRef mine = shared + (row * lanes * 8 + channel) * 4;
    SAGE_UNROLL for (int i = 0; i < 2; ++i) {
      SAGE_UNROLL for (int half = 0; half < 8; half += 4) {
        const float* const x = i == 0 ? sum : top;
        u32x4 words = {};
        SAGE_UNROLL for (int e = 0; e < 4; ++e) words[e] = bits_as<u32>(x[half + e]);
        shared_store<u32x4>(mine + (i * threads * 8 + half) * 4, words);
      }
    }
    Ops::barrier();
    const int thread = Ops::thread_id();
    if (thread < kDp) {
      float channel_sum = 0.0f;
      float channel_top = 0.0f;
      SAGE_UNROLL for (int r = 0; r < statistics_rows; ++r) {
        channel_sum += shared_load<float>(shared + (r * lanes * 8 + thread) * 4);
        channel_top = ptx_max_abs(channel_top, shared_load<float>(shared + (threads * 8 + r * lanes * 8 + thread) * 4));
      }
      float* const out = a.partial + static_cast<i64>(block) * 2 * kDp + thread;
      global_store<float>(out, channel_sum);
      global_store<float>(out + kDp, channel_top);
    }
  }

  // ---- Statistics of a whole slice, in shared memory as one float a channel: its mean of K or its maximum of |V|.
  static constexpr int parts = threads * 4 / kDp;  // how many threads share the chunks of four channels
  static constexpr int slice_shared = (parts + 1) * kDp * 4;

  template <bool kMean>
  static SAGE_FN SharedRef slice_statistics(const SageArgs& a, const int kv, const SharedRef shared) {
    const int thread = Ops::thread_id();
    const int part = thread / (kDp / 4);
    const int quad = thread - part * (kDp / 4);
    if (part < parts) {
      float x[4] = {0, 0, 0, 0};
      const float* const from = a.partial + (static_cast<i64>(kv) * a.kv_chunks * 2 + (kMean ? 0 : 1)) * kDp + quad * 4;
      for (int chunk = part; chunk < a.kv_chunks; chunk += parts) {
        const u32x4 words = global_load<u32x4>(from + static_cast<i64>(chunk) * 2 * kDp);
        SAGE_UNROLL for (int e = 0; e < 4; ++e) {
          x[e] = kMean ? x[e] + bits_as<float>(words[e]) : ptx_max_abs(x[e], bits_as<float>(words[e]));
        }
      }
      u32x4 words = {};
      SAGE_UNROLL for (int e = 0; e < 4; ++e) words[e] = bits_as<u32>(x[e]);
      shared_store<u32x4>(shared + (part * kDp + quad * 4) * 4, words);
    }
    Ops::barrier();
    const SharedRef result = shared + parts * kDp * 4;
    if (thread < kDp) {
      float x = 0.0f;
      SAGE_UNROLL for (int i = 0; i < parts; ++i) {
        const float y = shared_load<float>(shared + (i * kDp + thread) * 4);
        x = kMean ? x + y : ptx_max_abs(x, y);
      }
      shared_store<float>(result + thread * 4, x);
    }
    Ops::barrier();
    return result;
  }
  static SAGE_FN void read_channels(float (&x)[8], const SharedRef from, const int channel) {
    SAGE_UNROLL for (int half = 0; half < 8; half += 4) {
      u32x4 words = {};
      if (channel < kDp) words = shared_load<u32x4>(from + (channel + half) * 4);
      SAGE_UNROLL for (int e = 0; e < 4; ++e) x[half + e] = bits_as<float>(words[e]);
    }
  }

  static SAGE_FN void store_row(signed char* slice, const int row, const int channel, const u32x2& packed) {
    const u32 byte = static_cast<u32>(channel) ^ Ops::k_hash(static_cast<u32>(row), kDp) * 16;
    global_store<u32x2>(slice + (static_cast<i64>(row) * row_bytes + byte), packed);
  }

  static constexpr int query_rows = warps * rows * in_flight;  // of a block

  static SAGE_FN void quantise_queries(const SageArgs& a, const int block, const SharedRef shared) {
    const int per_slice = (a.q_len + query_rows - 1) / query_rows;
    const int slice = block / per_slice;
    const int first = (block - slice * per_slice) * query_rows + warp() * rows * in_flight + lane() / lanes;
    const int batch = slice / a.q_heads;
    const int head = slice - batch * a.q_heads;
    const int channel = lane_channel();
    const Rows q = rows_of(a, a.q, a.q_stride, a.q_vector, a.q_len, batch, head);
    u32x4 x[in_flight];
    SAGE_UNROLL for (int i = 0; i < in_flight; ++i) x[i] = load(q, first + i * rows, channel);
    float mean[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (a.q_mean) {
      Ops::wait_for_previous();
      read_channels(mean, slice_statistics<true>(a, batch * a.kv_heads + head / (a.q_heads / a.kv_heads), shared), channel);
    }
    float scale[in_flight];
    Base::query_scales(a, x, scale);
    SAGE_UNROLL for (int i = 0; i < in_flight; ++i) {
      const int row = first + i * rows;
      const float product = a.q_mean ? Base::product_with(x[i], mean) : 0.0f;
      if (row < a.q_len) {
        store_row(a.q8 + static_cast<i64>(slice) * a.q_len * row_bytes, row, channel, Base::pack_query(x[i], Base::query_inverse(a, scale[i])));
        if (channel == 0) {
          const i64 index = static_cast<i64>(slice) * a.q_len + row;
          global_store<float>(a.q_scale + index, scale[i]);
          if (a.q_mean) global_store<float>(a.q_mean + index, product * a.sm_scale);
        }
      }
    }
  }

  // The keys that share a scale belong to one, two or eight warps, so that a few loads a lane hold them.
  static constexpr int warps_per_scale = kDp == 64 ? 1 : kDp == 256 ? 8 : 2;
  static constexpr int held = kDp == 256 ? 4 : 8;
  static_assert(held * rows * warps_per_scale == kQuantiseRows, "the warps of a scale hold its keys");
  static constexpr int key_rows = warps * held * rows;

  static SAGE_FN float smooth(const float x, const float mean) {
    if constexpr (kBf16) return maximum(minimum(x - mean, kLargest), -kLargest);
    return x - mean;
  }
  static SAGE_FN void quantise_keys(const SageArgs& a, const int block, const SharedRef shared) {
    const int per_slice = (a.key_padded + key_rows - 1) / key_rows;
    const int slice = block / per_slice;
    const int first = (block - slice * per_slice) * key_rows + warp() * held * rows;
    const int lane_row = first + lane() / lanes;
    const int last = a.kv_len - 1;  // stands in for the rows behind it, which must not count for the maximum
    const int batch = slice / a.kv_heads;
    const int channel = lane_channel();
    const Rows k = rows_of(a, a.k, a.k_stride, a.k_vector, a.kv_len, batch, slice - batch * a.kv_heads);
    u32x4 x[held];
    SAGE_UNROLL for (int i = 0; i < held; ++i) x[i] = load(k, minimum(lane_row + i * rows, last), channel);
    float mean[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (a.k_mean) {
      Ops::wait_for_previous();
      const SharedRef means = slice_statistics<true>(a, slice, shared);
      read_channels(mean, means, channel);
      const int thread = Ops::thread_id();
      if (a.q_mean && first < key_rows && thread < kDp) {  // for who multiplies Q by it later
        global_store<float>(a.k_mean + (static_cast<i64>(slice) * kDp + thread), shared_load<float>(means + thread * 4));
      }
    }
    // The mean is the same for all rows of a channel: only the ends of its range matter, and those are found two channels at a time.
    u32x4 ends[2] = {x[0], x[0]};
    SAGE_UNROLL for (int i = 1; i < held; ++i) {
      SAGE_UNROLL for (int w = 0; w < 4; ++w) {
        ends[0][w] = kBf16 ? ptx_max_bf16x2(ends[0][w], x[i][w]) : ptx_max_f16x2(ends[0][w], x[i][w]);
        ends[1][w] = kBf16 ? ptx_min_bf16x2(ends[1][w], x[i][w]) : ptx_min_f16x2(ends[1][w], x[i][w]);
      }
    }
    float top = 0.0f;
    if (first < a.kv_len) {
      SAGE_UNROLL for (int e = 0; e < 8; ++e) {
        SAGE_UNROLL for (int i = 0; i < 2; ++i) top = ptx_max_abs(top, smooth(value(ends[i], e), mean[e]));
      }
    }
    SAGE_UNROLL for (int step = 1; step < 32; step *= 2) top = ptx_max_abs(top, Ops::exchange(top, step));
    if constexpr (warps_per_scale > 1) {
      const SharedRef tops = shared + slice_shared;
      if (lane() == 0) shared_store<float>(tops + warp() * 4, top);
      Ops::barrier();
      SAGE_UNROLL for (int i = 0; i < warps_per_scale; ++i) {
        top = ptx_max_abs(top, shared_load<float>(tops + (warp() / warps_per_scale * warps_per_scale + i) * 4));
      }
    }
    if (first >= a.key_padded) return;
    const float scale = round_scale(top * (1.0f / 127.0f));
    const float inverse = 1.0f / scale;
    if (lane() == 0 && first % kQuantiseRows == 0) {
      global_store<float>(a.k_scale + (static_cast<i64>(slice) * a.key_padded + first) / kQuantiseRows, scale);
    }
    signed char* const out = a.k8 + static_cast<i64>(slice) * a.key_padded * row_bytes;
    SAGE_UNROLL for (int i = 0; i < held; ++i) {
      const int row = lane_row + i * rows;
      float y[8];
      SAGE_UNROLL for (int e = 0; e < 8; ++e) y[e] = smooth(value(x[i], e), mean[e]);
      u32x2 packed = pack(y, inverse);
      if (row >= a.kv_len) packed[0] = packed[1] = 0;
      store_row(out, Ops::key_place(row, kDp, a.pv_type), channel, packed);
    }
  }

  // ---- V^T
  // A lane takes the keys of a word, two of f16 or four of fp8, and eight channels of them: eight words. The lanes of a warp are 16 such runs of
  // keys by two of channels: 32 bytes of every row that it reads, and words that meet each other in no more than pairs on a bank.
  static constexpr int value_keys = kDp == 64 ? 128 : 64;  // of a block
  static constexpr int value_shared = value_keys * kDp * 2;

  struct ValueBlock {
    int slice;
    int first;  // key
    Rows v;
    SharedRef inverse;  // of the scales of the channels, where V is scaled
  };
  static SAGE_FN ValueBlock value_block(const SageArgs& a, const int block, const SharedRef shared) {
    const int per_slice = a.key_padded / value_keys;
    ValueBlock b;
    b.slice = block / per_slice;
    b.first = (block - b.slice * per_slice) * value_keys;
    const int batch = b.slice / a.kv_heads;
    b.v = rows_of(a, a.v, a.v_stride, a.v_vector, a.kv_len, batch, b.slice - batch * a.kv_heads);
    b.inverse = shared;
    if (a.v_scaled) {
      Ops::wait_for_previous();
      b.inverse = slice_statistics<false>(a, b.slice, shared + value_shared);
      const int thread = Ops::thread_id();
      if (thread < kDp) {
        const float scale = Common::value_scale(shared_load<float>(b.inverse + thread * 4), a.pv_type);
        shared_store<float>(b.inverse + thread * 4, 1.0f / scale);
        if (b.first == 0) global_store<float>(a.v_scale + static_cast<i64>(b.slice) * kDp + thread, scale);
      }
      Ops::barrier();
    }
    return b;
  }

  template <int kPv>
  static SAGE_FN void transpose(const SageArgs& a, const int block, const SharedRef shared) {
    typedef typename Ops::template With<kPv> Layout;
    constexpr int run = 4 / Layout::v_element;
    constexpr int pairs = kDp / 16;
    constexpr int items = pairs * (value_keys / (16 * run));
    constexpr int tile_bytes = value_keys * kDp * Layout::v_element;
    const ValueBlock b = value_block(a, block, shared);
    constexpr int together = 4 / run;  // of a lane's runs
    SAGE_ROLLED for (int begin = warp(); begin < items; begin += together * warps) {
      u32x4 x[together][run];
      SAGE_UNROLL for (int i = 0; i < together; ++i) {
        const int item = begin + i * warps;
        const int channel = (item % pairs * 2 + lane() / 16) * 8;
        const int key = (item / pairs * 16 + lane() % 16) * run;
        SAGE_UNROLL for (int r = 0; r < run; ++r) {
          x[i][r] = u32x4{};
          if (item < items) x[i][r] = load(b.v, b.first + key + r, channel);
        }
      }
      SAGE_UNROLL for (int i = 0; i < together; ++i) {
        const int item = begin + i * warps;
        if (item < items) {
          const int channel = (item % pairs * 2 + lane() / 16) * 8;
          const int key = (item / pairs * 16 + lane() % 16) * run;
          constexpr int block_keys = Layout::v_block_keys(kDp);
          const SharedRef to = shared + (key / block_keys * kDp) * Layout::v_row_bytes(kDp);
          const u32 byte = static_cast<u32>(key % block_keys * Layout::v_element);
          float inverse[8];
          if (a.v_scaled) read_channels(inverse, b.inverse, channel);
          SAGE_UNROLL for (int e = 0; e < 8; ++e) {
            u32 word = 0;
            if constexpr (kPv == SAGE_PV_FP8) {
              float y[4];
              SAGE_UNROLL for (int r = 0; r < 4; ++r) {
                y[r] = maximum(minimum(value(x[i][r], e) * inverse[e], Ops::fp8_max), -Ops::fp8_max);
              }
              word = Ops::pack_fp8(y[0], y[1], y[2], y[3]);
            } else if (a.v_scaled) {
              word = ptx_cvt_f16x2(value(x[i][0], e) * inverse[e], value(x[i][1], e) * inverse[e]);
            } else {
              word = ptx_prmt(x[i][0][e / 2], x[i][1][e / 2], e % 2 == 0 ? 0x5410 : 0x7632);
            }
            shared_store<u32>(to + Layout::v_unit(static_cast<u32>(channel + e), byte, kDp), word);
          }
        }
      }
    }
    Ops::barrier();
    u8* const out = static_cast<u8*>(a.vt) + static_cast<i64>(block) * tile_bytes;
    const int thread = Ops::thread_id();
    SAGE_UNROLL for (int i = 0; i < tile_bytes; i += threads * 16) {
      const int at = i + thread * 16;
      if (tile_bytes % (threads * 16) == 0 || at < tile_bytes) global_store<u32x4>(out + at, shared_load<u32x4>(shared + at));
    }
  }
  // V as f16 rows, for hopper.hpp where it can't take the caller's.
  static SAGE_FN void copy_values(const SageArgs& a, const int block, const SharedRef shared) {
    const ValueBlock b = value_block(a, block, shared);
    const int channel = lane_channel();
    if (channel >= kDp) return;
    float inverse[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (a.v_scaled) read_channels(inverse, b.inverse, channel);
    u16* const out = static_cast<u16*>(a.vt) + (static_cast<i64>(b.slice) * a.key_padded * kDp + channel);
    for (int key = b.first + warp() * rows + lane() / lanes; key < b.first + value_keys; key += warps * rows) {
      u32x4 words = load(b.v, key, channel);
      if (a.v_scaled) {
        const u32x4 x = words;
        SAGE_UNROLL for (int w = 0; w < 4; ++w) {
          words[w] = ptx_cvt_f16x2(value(x, 2 * w) * inverse[2 * w], value(x, 2 * w + 1) * inverse[2 * w + 1]);
        }
      }
      global_store<u32x4>(out + static_cast<i64>(key) * kDp, words);
    }
  }
  static SAGE_FN void prepare_values(const SageArgs& a, const int block, const SharedRef shared) {
    if (a.pv_type == SAGE_PV_FP8) {
      transpose<SAGE_PV_FP8>(a, block, shared);
    } else if constexpr (Ops::value_rows(kDp, SAGE_PV_F16)) {
      copy_values(a, block, shared);
    } else {
      transpose<SAGE_PV_F16>(a, block, shared);
    }
  }

  // ---- The two kernels. Which blocks belong to which: plan.hpp, fill_args().
  static constexpr int shared_bytes = value_shared + slice_shared;
  static_assert(shared_bytes >= threads * 8 * 2 * 4, "statistics() keeps two floats a channel of every row");

  static SAGE_FN void early(const SageArgs& a, const SharedRef shared) {
    Ops::let_next_start();
    int block = Ops::workgroup_id();
    const int statistics_blocks = a.batch * a.kv_heads * a.kv_chunks;
    if (block < statistics_blocks) return statistics(a, block, shared);
    block -= statistics_blocks;
    if (!a.q_mean) {
      if (block < a.q_blocks) return quantise_queries(a, block, shared);
      block -= a.q_blocks;
    }
    prepare_values(a, block, shared);
  }
  static SAGE_FN void late(const SageArgs& a, const SharedRef shared) {
    Ops::let_next_start();
    int block = Ops::workgroup_id();
    if (block < a.k_blocks) return quantise_keys(a, block, shared);
    block -= a.k_blocks;
    if (!a.partial || a.q_mean) {
      if (block < a.q_blocks) return quantise_queries(a, block, shared);
      block -= a.q_blocks;
    }
    prepare_values(a, block, shared);
  }
};

template <class Ops, int kDp, bool kEarly>
SAGE_FN void nvidia_prologue(const SageArgs& a, const SharedRef shared) {
  if (a.io_type == SAGE_TYPE_BF16) {
    typedef NvidiaPrologue<Ops, kDp, true> Kernel;
    kEarly ? Kernel::early(a, shared) : Kernel::late(a, shared);
  } else {
    typedef NvidiaPrologue<Ops, kDp, false> Kernel;
    kEarly ? Kernel::early(a, shared) : Kernel::late(a, shared);
  }
}
template <class Ops, bool kEarly>
SAGE_FN void nvidia_prologue(const SageArgs& a, const SharedRef shared) {
  switch (a.dp) {
    case 64:
      return nvidia_prologue<Ops, 64, kEarly>(a, shared);
    case 96:
      return nvidia_prologue<Ops, 96, kEarly>(a, shared);
    case 128:
      return nvidia_prologue<Ops, 128, kEarly>(a, shared);
    default:
      return nvidia_prologue<Ops, 256, kEarly>(a, shared);
  }
}

}  // namespace sage_device

#endif
