// A problem of a trial as the C ABI wants it.
#pragma once

#include "../device/plan.hpp"
#include "../include/sage/attention.h"

namespace sage::trial {

inline sage_strides abi_strides(const SageStrides& s) { return {s.batch, s.head, s.token, s.dim}; }

inline sage_attention_problem abi_problem(const device::Problem& p, const double sm_scale, const SageStrides& q, const SageStrides& k,
                                          const SageStrides& v, const SageStrides& out) {
  sage_attention_problem asked{};
  asked.struct_size = sizeof asked;
  asked.version = SAGE_ATTENTION_VERSION;
  asked.batch = p.batch;
  asked.q_heads = p.q_heads;
  asked.kv_heads = p.kv_heads;
  asked.q_len = p.q_len;
  asked.kv_len = p.kv_len;
  asked.head_dim = p.head_dim;
  asked.io_type = static_cast<std::uint32_t>(p.io_type);
  asked.pv_type = p.pv == device::PvType::f16 ? SAGE_PV_TYPE_F16 : SAGE_PV_TYPE_FP8;
  asked.mask = static_cast<std::uint32_t>(p.mask);
  if (p.smooth_k) asked.flags |= SAGE_FLAG_SMOOTH_K;
  if (p.want_lse) asked.flags |= SAGE_FLAG_LSE;
  asked.sm_scale = static_cast<float>(sm_scale);
  asked.q = abi_strides(q);
  asked.k = abi_strides(k);
  asked.v = abi_strides(v);
  asked.out = abi_strides(out);
  return asked;
}

}  // namespace sage::trial
