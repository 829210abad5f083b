// What the launches of a prologue read from memory and write there, in bytes: what its time is measured against.
//
// Of a V whose strides the copy engine takes (values_in_place() in plan.hpp). Counted is every tensor once for each launch that reads it, also where
// a cache may still hold it, and nothing that is small beside the tensors and read again by many blocks (partial sums by sage_quantise, means, scales).
// A change of what a launch does (fill_args() in plan.hpp, the prologues) is a change here.
#pragma once
#include <cstdint>

#include "plan.hpp"

namespace sage::device {

struct PrologueBytes {
  std::int64_t statistics = 0;  // 0: not launched
  std::int64_t finalise = 0;
  std::int64_t quantise = 0;

  [[nodiscard]] constexpr std::int64_t sum() const { return statistics + finalise + quantise; }
};

constexpr PrologueBytes prologue_bytes(const Problem& p, const Tile& tile) {
  const std::int64_t dp = padded_head_dim(p.head_dim);
  const std::int64_t q_rows = std::int64_t{p.batch} * p.q_heads * p.q_len;
  const std::int64_t kv = std::int64_t{p.batch} * p.kv_heads;
  const std::int64_t key_padded = round_up(p.kv_len, key_padding);
  const std::int64_t k_or_v = kv * p.kv_len * p.head_dim * 2;

  // Tiles of warpgroups quantise Q in the attention kernel and read f16 V where it lies.
  const bool v_stays = reads_value_rows(tile) && p.io_type == SAGE_TYPE_F16;
  const std::int64_t q = tile.warpgroups() ? 0 : q_rows * p.head_dim * 2 + q_rows * (stored_row(dp) + 4);
  const std::int64_t k = k_or_v + kv * key_padded * stored_row(dp) + kv * (key_padded / keys_per_scale) * 4;
  const std::int64_t v = v_stays ? 0 : k_or_v + kv * key_padded * dp * (p.pv == PvType::f16 ? 2 : 1);

  PrologueBytes bytes;
  bytes.quantise = q + k + v;
  if (!needs_statistics(p)) return bytes;
  const std::int64_t chunks = is_nvidia(tile.family) ? nvidia_prologue::chunks(p.kv_len, kv) : ceil_div(p.kv_len, keys_per_chunk);
  const std::int64_t partial = kv * chunks * 2 * dp * 4;
  bytes.statistics = (p.smooth_k ? k_or_v : 0) + (needs_v_maximum(p) ? k_or_v : 0) + partial;
  if (!is_nvidia(tile.family)) {
    bytes.finalise = partial;
    return bytes;
  }
  // What needs no statistics goes along with them.
  const auto take_along = [&](const std::int64_t tensor) {
    bytes.statistics += tensor;
    bytes.quantise -= tensor;
  };
  if (!needs_q_mean(p)) take_along(q);
  if (!needs_v_maximum(p)) take_along(v);
  return bytes;
}

}  // namespace sage::device
