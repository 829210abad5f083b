#include "problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace sage::runtime {
namespace {

constexpr std::int32_t most_queries = std::int32_t{1} << 30U;
constexpr float largest_scale = 65536.0F;
constexpr std::int64_t largest_grid = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t largest_amd_global_size = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t furthest_element = std::uint64_t{1} << 59U;  // 2^60 bytes
constexpr std::uint64_t io_bytes = 2;
constexpr std::uint64_t lse_bytes = 4;
constexpr std::uint64_t workspace_alignment = 256;

struct Axis {
  std::uint64_t stride;  // magnitude
  std::uint64_t extent;
};

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

std::array<Axis, 4> axes_of(const sage_strides& strides, std::int32_t batch, std::int32_t heads, std::int32_t tokens,
                            std::int32_t dim) {
  const auto axis = [](std::int64_t stride, std::int32_t extent) {
    return Axis{magnitude(stride), static_cast<std::uint64_t>(extent)};
  };
  return {axis(strides.batch, batch), axis(strides.head, heads), axis(strides.token, tokens), axis(strides.dim, dim)};
}

// How far the last element is from the first; empty when beyond 2^60 bytes.
bool in_reach(const std::array<Axis, 4>& axes) {
  std::uint64_t reach = 0;
  for (const Axis& axis : axes) {
    if (axis.extent <= 1) continue;
    std::uint64_t length = 0;
    if (__builtin_mul_overflow(axis.stride, axis.extent - 1, &length) || __builtin_add_overflow(reach, length, &reach))
      return false;
    if (reach > furthest_element) return false;
  }
  return true;
}

// Elements are apart when each stride, taken by size, is longer than everything that the smaller ones reach. Strides
// that interleave without meeting exist; no tensor layout has them.
bool keeps_apart(std::array<Axis, 4> axes) {
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  std::uint64_t reach = 0;
  for (const Axis& axis : axes) {
    if (axis.extent <= 1) continue;
    if (axis.stride <= reach) return false;
    reach += axis.stride * (axis.extent - 1);  // in_reach() has been asked before
  }
  return true;
}

using LongLong = long long;

Failure check_shape(const sage_attention_problem& p) {
  if (p.batch < 1) return fail(SAGE_E_BATCH, "problem.batch is %d; it must be at least 1", p.batch);
  if (p.q_heads < 1) return fail(SAGE_E_Q_HEADS, "problem.q_heads is %d; it must be at least 1", p.q_heads);
  if (p.kv_heads < 1) return fail(SAGE_E_KV_HEADS, "problem.kv_heads is %d; it must be at least 1", p.kv_heads);
  if (p.q_heads % p.kv_heads != 0)
    return fail(SAGE_E_HEAD_RATIO, "problem.q_heads is %d, not a multiple of kv_heads %d", p.q_heads, p.kv_heads);
  if (p.q_len < 1 || p.q_len > most_queries)
    return fail(SAGE_E_Q_LEN, "problem.q_len is %d; it must be 1 to %d", p.q_len, most_queries);
  if (p.kv_len < 0 || p.kv_len > device::max_kv_len)
    return fail(SAGE_E_KV_LEN, "problem.kv_len is %d; it must be 0 to %d", p.kv_len,
                static_cast<int>(device::max_kv_len));
  if (p.head_dim < 1 || p.head_dim > 256)
    return fail(SAGE_E_HEAD_DIM, "problem.head_dim is %d; it must be 1 to 256", p.head_dim);
  return success();
}

Failure check_choices(const sage_attention_problem& p, const FamilySupport& support) {
  if (p.io_type > SAGE_IO_BF16) return fail(SAGE_E_IO_TYPE, "problem.io_type is %u; 0 is f16, 1 bf16", p.io_type);
  if (p.pv_type > SAGE_PV_TYPE_FP8) return fail(SAGE_E_PV_TYPE, "problem.pv_type is %u; 0 is f16, 1 fp8", p.pv_type);
  if (p.pv_type == SAGE_PV_TYPE_FP8 && !support.fp8)
    return fail(SAGE_E_PV_UNAVAILABLE, "problem.pv_type is fp8, but this GPU has no matrix instructions for it");
  if (p.mask > SAGE_ATTENTION_MASK_CAUSAL_TOP_LEFT)
    return fail(SAGE_E_MASK, "problem.mask is %u; it must be 0 to 2", p.mask);
  constexpr std::uint32_t known_flags = SAGE_FLAG_SMOOTH_K | SAGE_FLAG_LSE;
  if ((p.flags & ~known_flags) != 0)
    return fail(SAGE_E_FLAGS, "problem.flags is 0x%x; known are 0x%x", p.flags, known_flags);
  if (!(p.sm_scale >= -largest_scale && p.sm_scale <= largest_scale)) {
    return fail(SAGE_E_SM_SCALE, "problem.sm_scale is %g; it must be %g to %g", static_cast<double>(p.sm_scale),
                static_cast<double>(-largest_scale), static_cast<double>(largest_scale));
  }
  if (p.reserved != 0) return fail(SAGE_E_RESERVED, "problem.reserved is %u; it must be 0", p.reserved);
  return success();
}

Failure check_strides(const sage_attention_problem& p) {
  const auto far = [](sage_status status, const char* name) {
    return fail(status, "problem.%s: an element lies more than 2^60 bytes from the base address", name);
  };
  if (!in_reach(axes_of(p.q, p.batch, p.q_heads, p.q_len, p.head_dim))) return far(SAGE_E_Q_STRIDE, "q");
  if (!in_reach(axes_of(p.k, p.batch, p.kv_heads, p.kv_len, p.head_dim))) return far(SAGE_E_K_STRIDE, "k");
  if (!in_reach(axes_of(p.v, p.batch, p.kv_heads, p.kv_len, p.head_dim))) return far(SAGE_E_V_STRIDE, "v");
  const auto out = axes_of(p.out, p.batch, p.q_heads, p.q_len, p.head_dim);
  if (!in_reach(out)) return far(SAGE_E_OUT_STRIDE, "out");
  if (!keeps_apart(out)) {
    return fail(SAGE_E_OUT_OVERLAP, "problem.out: strides (%lld, %lld, %lld, %lld) put several elements at one address",
                static_cast<LongLong>(p.out.batch), static_cast<LongLong>(p.out.head),
                static_cast<LongLong>(p.out.token), static_cast<LongLong>(p.out.dim));
  }
  return success();
}

Failure check_address(const void* address, std::uint64_t alignment, sage_status null_status,
                      sage_status alignment_status, const char* name) {
  if (address == nullptr) return fail(null_status, "buffers.%s is NULL", name);
  if (reinterpret_cast<std::uintptr_t>(address) % alignment != 0)
    return fail(alignment_status, "buffers.%s is %p, not aligned to %u bytes", name, address,
                static_cast<unsigned>(alignment));
  return success();
}

}  // namespace

Failure copy_versioned(const void* from, void* to, std::uint32_t known_size, const char* name) {
  std::uint32_t size = 0;
  std::uint32_t version = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < known_size)
    return fail(SAGE_E_STRUCT_SIZE, "%s.struct_size is %u; version 1 has %u bytes", name, size, known_size);
  std::memcpy(&version, static_cast<const char*>(from) + sizeof size, sizeof version);
  if (version < 1 || version > SAGE_ATTENTION_VERSION)
    return fail(SAGE_E_STRUCT_VERSION, "%s.version is %u; the library knows 1 to %d", name, version,
                SAGE_ATTENTION_VERSION);
  // Fields of a later header that are not used are zero. A size that cannot be meant is not read through.
  constexpr std::uint32_t largest_size = 4096;
  if (size > largest_size)
    return fail(SAGE_E_STRUCT_SIZE, "%s.struct_size is %u; at most %u bytes are possible", name, size, largest_size);
  const auto* const tail = static_cast<const char*>(from) + known_size;
  if (std::any_of(tail, tail + (size - known_size), [](char c) { return c != 0; })) {
    return fail(SAGE_E_STRUCT_TAIL, "%s has %u bytes that this library does not know, and they are not zero", name,
                size - known_size);
  }
  std::memcpy(to, from, known_size);
  return success();
}

Failure check_problem(const sage_attention_problem* problem, const FamilySupport& support, CheckedProblem& checked) {
  if (problem == nullptr) return fail(SAGE_E_NULL_PROBLEM, "problem is NULL");
  if (auto failure = copy_versioned(problem, &checked.fields, sizeof checked.fields, "problem")) return failure;
  const sage_attention_problem& p = checked.fields;
  if (auto failure = check_shape(p)) return failure;
  if (auto failure = check_choices(p, support)) return failure;
  if (auto failure = check_strides(p)) return failure;
  device::Problem& plan = checked.plan;
  plan.batch = p.batch;
  plan.q_heads = p.q_heads;
  plan.kv_heads = p.kv_heads;
  plan.q_len = p.q_len;
  plan.kv_len = p.kv_len;
  plan.head_dim = p.head_dim;
  plan.mask = static_cast<int>(p.mask);
  plan.io_type = static_cast<int>(p.io_type);
  plan.pv = static_cast<device::PvType>(p.pv_type);
  plan.smooth_k = (p.flags & SAGE_FLAG_SMOOTH_K) != 0;
  plan.want_lse = (p.flags & SAGE_FLAG_LSE) != 0;
  return success();
}

Failure check_grids(const device::Problem& plan, const device::Tile& tile, bool is_amd) {
  // Factors are taken in one by one and compared at once, so that no product of more than two 31-bit numbers is formed.
  const auto too_large = [](const char* what, std::int64_t groups) {
    return fail(SAGE_E_GRID, "%s would need %lld workgroups; at most %lld are possible", what,
                static_cast<LongLong>(groups), static_cast<LongLong>(largest_grid));
  };
  const auto limit = [is_amd](std::int64_t threads) {
    return is_amd ? std::min(largest_grid, largest_amd_global_size / threads) : largest_grid;
  };
  const std::int64_t q_slices = std::int64_t{plan.batch} * plan.q_heads;
  const std::int64_t kv_slices = std::int64_t{plan.batch} * plan.kv_heads;
  if (q_slices > largest_grid) return too_large("batch * q_heads", q_slices);
  const std::int64_t attention = q_slices * device::ceil_div(plan.q_len, tile.queries());
  if (attention > limit(tile.threads())) return too_large("attention", attention);
  const std::int64_t statistics = kv_slices * device::ceil_div(plan.kv_len, device::keys_per_chunk);
  if (statistics > limit(device::prologue_threads)) return too_large("the statistics of K and V", statistics);
  const std::int64_t keys = device::round_up(plan.kv_len, device::key_padding);
  const std::int64_t q_blocks = q_slices * device::ceil_div(plan.q_len, device::quantise_rows);
  const std::int64_t k_blocks = kv_slices * (keys / device::quantise_rows);
  const std::int64_t v_blocks = kv_slices * (keys / device::transpose_keys);
  const std::int64_t most = limit(device::prologue_threads);
  if (q_blocks > most || k_blocks > most || v_blocks > most || q_blocks + k_blocks + v_blocks > most)
    return too_large("quantisation", std::max({q_blocks, k_blocks, v_blocks}));
  return success();
}

Failure check_buffers(const sage_attention_buffers* buffers, const CheckedProblem& problem,
                      std::uint64_t workspace_bytes, sage_attention_buffers& checked) {
  if (buffers == nullptr) return fail(SAGE_E_NULL_BUFFERS, "buffers is NULL");
  if (auto failure = copy_versioned(buffers, &checked, sizeof checked, "buffers")) return failure;
  const bool has_keys = problem.fields.kv_len > 0;
  if (auto failure = check_address(checked.q, io_bytes, SAGE_E_NULL_Q, SAGE_E_Q_ALIGNMENT, "q")) return failure;
  if (has_keys) {
    if (auto failure = check_address(checked.k, io_bytes, SAGE_E_NULL_K, SAGE_E_K_ALIGNMENT, "k")) return failure;
    if (auto failure = check_address(checked.v, io_bytes, SAGE_E_NULL_V, SAGE_E_V_ALIGNMENT, "v")) return failure;
  }
  if (auto failure = check_address(checked.out, io_bytes, SAGE_E_NULL_OUT, SAGE_E_OUT_ALIGNMENT, "out")) return failure;
  if (problem.plan.want_lse) {
    if (auto failure = check_address(checked.lse, lse_bytes, SAGE_E_NULL_LSE, SAGE_E_LSE_ALIGNMENT, "lse"))
      return failure;
  } else if (checked.lse != nullptr) {
    return fail(SAGE_E_UNWANTED_LSE, "buffers.lse is set, but problem.flags does not ask for it");
  }
  if (auto failure = check_address(checked.workspace, workspace_alignment, SAGE_E_NULL_WORKSPACE,
                                   SAGE_E_WORKSPACE_ALIGNMENT, "workspace"))
    return failure;
  if (checked.workspace_size < workspace_bytes) {
    return fail(SAGE_E_WORKSPACE_SIZE, "buffers.workspace_size is %llu; the problem needs %llu bytes",
                static_cast<unsigned long long>(checked.workspace_size),
                static_cast<unsigned long long>(workspace_bytes));
  }
  return success();
}

}  // namespace sage::runtime
