// RDNA4: 16x16x16 WMMA, wave32.
//
// Register layout (AMD matrix instruction calculator): lane l holds row or column r = l % 16 of A, B and C; its half h = l / 16 selects
// 8 of the 16 k of an operand and the rows 8h .. 8h+7 of C. Nothing is duplicated.
//
// The chain needs no shuffle. S^T = K Q^T leaves in each lane the scores of one query, q = r, for 8 keys a tile. O^T = V^T P^T wants
// P^T as operand B: lane r column q, 8 k of half h. So the scores, exponentiated and packed, are the operand, if the A operand
// (V^T) presents the same keys in the same k slots. The order of k inside an instruction is free as long as A and B agree; keys
// are therefore numbered so that one lane half owns 16 consecutive keys of each block of 32:
//     value i of a lane (tile i / 8, C register i % 8)  <->  key 16 h + i of the block.
// K rows are read in the order that makes this true, V^T rows then are read as plain 16-byte runs; the same trick over d gives
// 16-byte reads of K (32 consecutive d feed two instructions).
#if (defined(SAGE_ON_AMD) && defined(__GFX12__)) || defined(SAGE_ON_HOST)

namespace sage_device {

template <int kPv, int kForm = SAGE_FORM_PLAIN>
struct Gfx12 : Rdna {
  static constexpr int wave_size = 32;
  static constexpr int query_tile = 16;
  static constexpr int queries_per_lane = 1;
  static constexpr int out_tile = 16;          // channels per accumulator tile
  static constexpr int out_values = 8;         // values per lane of an accumulator tile
  static constexpr int out_run = 8;            // consecutive channels among them
  static constexpr bool queries_in_shared = false;
  static constexpr bool exact_lse = true;  // P is rounded toward zero, or to fp8
  static constexpr float fp8_max = 448.0f;     // OCP e4m3; conversion above it gives NaN
  static constexpr float p_offset = kPv == SAGE_PV_FP8 ? 4.0f : 0.0f;
  static constexpr float lazy_threshold = kForm == SAGE_FORM_EAGER ? 0.0f : kPv == SAGE_PV_FP8 ? 4.0f : 8.0f;  // 2^(offset + threshold) stays below fp8_max

  typedef SharedRows<kForm> Shared;
  static SAGE_FN constexpr int v_bytes(const int keys) { return keys * (kPv == SAGE_PV_FP8 ? 1 : 2); }
  static SAGE_FN constexpr int k_row_bytes(const int dp) { return Shared::pitch(dp); }
  static SAGE_FN constexpr int v_row_bytes(const int keys) { return Shared::pitch(v_bytes(keys)); }
  static SAGE_FN u32 k_unit(const u32 row, const u32 byte, const int dp) { return Shared::unit(row, byte, dp); }
  static SAGE_FN u32 v_unit(const u32 row, const u32 byte, const int keys) { return Shared::unit(row, byte, v_bytes(keys)); }

  template <int kDp, int kKeys, int kThreads>
  using Copy = RegisterCopy<Gfx12, kDp, kKeys, kPv == SAGE_PV_FP8 ? 1 : 2, kThreads>;

  struct Lane {
    int r;  // lane % 16
    int h;  // lane / 16
  };
  static SAGE_FN Lane lane(const int thread) { return {thread & 15, (thread >> 4) & 1}; }
  static SAGE_FN int query_of(const Lane lane, int) { return lane.r; }
  static SAGE_FN int query_slot(int) { return 0; }
  static SAGE_FN int key_of(const Lane lane, const int i) { return 16 * lane.h + i; }
  static SAGE_FN int channel_of(const Lane lane, const int first) { return 8 * lane.h + first; }
  static SAGE_FN bool writes_lse(const Lane lane) { return lane.h == 0; }

  template <int kDp>
  struct Query {
    u32x4 q[kDp / 32];
  };
  template <int kDp>
  static SAGE_FN void load_query(Query<kDp>& query, const Lane lane, const signed char* row, SharedRef) {
    SAGE_UNROLL for (int t = 0; t < kDp / 32; ++t) query.q[t] = global_load<u32x4>(row + 32 * t + 16 * lane.h);
  }

  // Row r of the A operand of tile u is C row 8 (r / 8) + r % 8, whose key is 16 (r / 8) + 8 u + r % 8.
  static SAGE_FN u32 k_lane(const Lane lane, const int dp) {
    return k_unit(16 * (lane.r / 8) + lane.r % 8, 16 * lane.h, dp);
  }
  static SAGE_FN u32 v_lane(const Lane lane, const int keys) {
    return v_unit(lane.r, 16 * lane.h * (kPv == SAGE_PV_FP8 ? 1 : 2), keys);
  }
  // From there to another fragment of the lane.
  static SAGE_FN u32 k_step(const Lane lane, const u32 row, const u32 byte, const int dp) {
    return Shared::step(k_lane(lane, dp), row, byte, dp);
  }
  static SAGE_FN u32 v_step(const Lane lane, const u32 row, const u32 byte, const int keys) {
    return Shared::step(v_lane(lane, keys), row, byte, v_bytes(keys));
  }

  static SAGE_FN i32x8 mma_s8(const u32 a0, const u32 a1, const u32 b0, const u32 b1, const i32x8 c) {
    const i32x2 a = {static_cast<int>(a0), static_cast<int>(a1)};
    const i32x2 b = {static_cast<int>(b0), static_cast<int>(b1)};
    return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a, true, b, c, false);
  }

  // Scores of 32 keys for every query group. `at` = K tile + k_lane(). Two tiles are in flight because a dependent WMMA waits.
  template <int kDp, int kGroups>
  static SAGE_FN void score_block(Scores (&s)[kGroups], const SharedRef at, const int block, const Lane lane,
                                  const Query<kDp> (&query)[kGroups]) {
    SAGE_UNROLL for (int t = 0; t < kDp / 32; ++t) {
      const u32x4 k0 = shared_load<u32x4>(at + k_step(lane, 32 * block, 32 * t, kDp));
      const u32x4 k1 = shared_load<u32x4>(at + k_step(lane, 32 * block + 8, 32 * t, kDp));
      SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
        const u32x4 q = query[g].q[t];
        s[g].tile[0] = mma_s8(k0[0], k0[1], q[0], q[1], s[g].tile[0]);
        s[g].tile[1] = mma_s8(k1[0], k1[1], q[0], q[1], s[g].tile[1]);
        s[g].tile[0] = mma_s8(k0[2], k0[3], q[2], q[3], s[g].tile[0]);
        s[g].tile[1] = mma_s8(k1[2], k1[3], q[2], q[3], s[g].tile[1]);
      }
    }
    schedule_fence();
  }

  // Packed probabilities of 32 keys: the B operands of two steps of 16 keys.
  struct Probabilities {
    u32 w[kPv == SAGE_PV_FP8 ? 4 : 8];
  };
  static SAGE_FN void pack(Probabilities& p, const float (&x)[16]) {
    if (kPv == SAGE_PV_FP8) {
      SAGE_UNROLL for (int i = 0; i < 4; ++i) p.w[i] = pack_fp8(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
    } else {
      SAGE_UNROLL for (int i = 0; i < 8; ++i) p.w[i] = pack_f16(x[2 * i], x[2 * i + 1]);
    }
  }

  // Row sums from the rounded probabilities, so that numerator and denominator agree.
  static SAGE_FN void accumulate(Sum& sum, const Probabilities& p) {
    if (kPv == SAGE_PV_FP8) {
      SAGE_UNROLL for (int i = 0; i < 4; ++i) sum.x = __builtin_amdgcn_dot4_f32_fp8_fp8(p.w[i], 0x38383838u, sum.x);
    } else {
      SAGE_UNROLL for (int i = 0; i < 8; ++i) sum.x = __builtin_amdgcn_fdot2(bits_as<f16x2>(p.w[i]), bits_as<f16x2>(0x3c003c00u), sum.x, false);
    }
  }
  static SAGE_FN f32x8 mma_pv(const u32x4 a, const u32 b0, const u32 b1, const u32 b2, const u32 b3, const f32x8 c) {
    const u32x4 b = {b0, b1, b2, b3};
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(bits_as<f16x8>(a), bits_as<f16x8>(b), c);
  }
  static SAGE_FN f32x8 mma_pv8(const u32 a0, const u32 a1, const u32 b0, const u32 b1, const f32x8 c) {
    const i32x2 a = {static_cast<int>(a0), static_cast<int>(a1)};
    const i32x2 b = {static_cast<int>(b0), static_cast<int>(b1)};
    return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(a, b, c);
  }

  // out += V^T P^T over 32 keys. `at` = V tile + v_lane().
  template <int kTiles, int kGroups, int kKeys>
  static SAGE_FN void value_block(Out (&out)[kGroups][kTiles], const SharedRef at, const int block, const Lane lane,
                                  const Probabilities (&p)[kGroups]) {
    SAGE_UNROLL for (int d = 0; d < kTiles; ++d) {
      if (kPv == SAGE_PV_FP8) {
        const u32x4 v = shared_load<u32x4>(at + v_step(lane, 16 * d, 32 * block, kKeys));
        SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
          out[g][d].x = mma_pv8(v[0], v[1], p[g].w[0], p[g].w[1], out[g][d].x);
          out[g][d].x = mma_pv8(v[2], v[3], p[g].w[2], p[g].w[3], out[g][d].x);
        }
      } else {
        const u32x4 v0 = shared_load<u32x4>(at + v_step(lane, 16 * d, 64 * block, kKeys));
        const u32x4 v1 = shared_load<u32x4>(at + v_step(lane, 16 * d, 64 * block + 16, kKeys));
        SAGE_UNROLL for (int g = 0; g < kGroups; ++g) {
          out[g][d].x = mma_pv(v0, p[g].w[0], p[g].w[1], p[g].w[2], p[g].w[3], out[g][d].x);
          out[g][d].x = mma_pv(v1, p[g].w[4], p[g].w[5], p[g].w[6], p[g].w[7], out[g][d].x);
        }
      }
      if (d % 4 == 3) schedule_fence();
    }
    schedule_fence();
  }
};

}  // namespace sage_device

#endif
