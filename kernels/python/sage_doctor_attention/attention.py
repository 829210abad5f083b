"""The functions of SageAttention 2.2.0, with the meaning of its arguments.

What is not the same, and why:

* Every argument is honoured or refused. SageAttention takes any keyword and drops it, masks included.
* qk_quant_gran: both values of SageAttention are accepted and mean this library's one form: a scale for each query and
  one for 32 keys, which is finer for Q and between the two for K.
* pv_accum_dtype: all values of SageAttention are accepted; accumulation is always in float32, the most exact of them.
* smooth_v has no counterpart; True gives a UserWarning, as SageAttention does where it ignores it.
* is_causal is aligned at the top left, also where there are more keys than queries, like SageAttention's CUDA functions
  and torch's SDPA.
* head_dim may be anything from 1 to 256.
* The output lies in memory in q's order of heads and tokens, whatever tensor_layout says, and inputs need not be
  contiguous, not even along head_dim.
"""

import warnings

from . import launch, operators
from .arguments import check, is_nhd, refuse_gradient
from .errors import ArgumentError, UnsupportedError
from .fallback import fall_back
from .plan import token_major
from .switch import ENABLED, wants_sdpa
from .tracing import is_watched


def _compute(q, k, v, nhd, is_causal, sm_scale, return_lse, smooth_k, fp8, into):
    refuse_gradient(q, k, v)
    if not is_watched(q, k, v):
        by_token = None if into is None else token_major(into, nhd)
        out, lse = launch.run(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, return_lse, by_token, into)
        return (out, lse) if return_lse else out
    check(q, k, v, nhd)
    operator = operators.attention_lse if return_lse else operators.attention
    return operator(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, token_major(q, nhd))


def attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, fp8, attn_mask=None, dropout_p=0.0,
           fallback=None, into=None):
    """What all functions here end in. fp8: the type of P and V, otherwise float16.

    into: dense memory that out may be written to. Who gives it looks whether out is it.
    """
    nhd = is_nhd(tensor_layout)
    if sm_scale is not None:
        sm_scale = float(sm_scale)
    try:
        if not ENABLED:
            raise UnsupportedError("switched off", "SAGE_ATTENTION=0 turns these kernels off")
        if attn_mask is not None:
            raise UnsupportedError("mask", "attn_mask is given, and these kernels have no masks but is_causal")
        if dropout_p != 0.0:
            raise UnsupportedError("dropout", f"dropout_p is {dropout_p}, and these kernels have no dropout")
        return _compute(q, k, v, nhd, bool(is_causal), sm_scale, bool(return_lse), bool(smooth_k), fp8, into)
    except UnsupportedError as error:
        if ENABLED and not wants_sdpa(fallback):
            raise
        reason = error.reason
    return fall_back(reason, q, k, v, nhd, is_causal, sm_scale, return_lse, attn_mask, dropout_p)


def _one_of(name, value, allowed):
    if value not in allowed:
        raise ArgumentError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}")


_GRANULARITIES = ("per_warp", "per_thread")
_FP16_ACCUMULATORS = ("fp32", "fp16", "fp16+fp32")
_FP8_ACCUMULATORS = ("fp32", "fp32+fp32", "fp32+fp16")


def _check_hints(qk_quant_gran, pv_accum_dtype, accumulators, smooth_v):
    _one_of("qk_quant_gran", qk_quant_gran, _GRANULARITIES)
    _one_of("pv_accum_dtype", pv_accum_dtype, accumulators)
    if smooth_v:
        warnings.warn("smooth_v is ignored: V has a scale for each channel here", UserWarning, stacklevel=3)


def sageattn(q, k, v, tensor_layout="HND", is_causal=False, sm_scale=None, return_lse=False, *, smooth_k=True,
             attn_mask=None, dropout_p=0.0, pv="fp16", fallback=None):
    """Attention with Q and K in int8.

    q: [B, Hq, N, D] ("HND") or [B, N, Hq, D] ("NHD"); k, v: the same with Hkv heads, a divisor of Hq, and their own
    number of tokens. float16 or bfloat16, on one GPU, of any strides. sm_scale: default 1/sqrt(D).
    Returns out (shape, type and layout of q), with return_lse (out, lse): float32 [B, Hq, N], the natural logarithm.

    pv: the type in which P and V are multiplied, "fp16" or "fp8" (e4m3; gfx12, gfx942, sm_89 and later), which has four
    times the error and is not faster everywhere (docs/python.md). smooth_k: subtract K's mean before it is quantised; the same in exact arithmetic.
    attn_mask, dropout_p: only for fallback="sdpa", which computes with torch what these kernels can't, and counts it in
    statistics(). Otherwise such a call raises UnsupportedError.
    """
    _one_of("pv", pv, ("fp16", "fp8"))
    return attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, pv == "fp8", attn_mask, dropout_p,
                  fallback)


def sageattn_qk_int8_pv_fp16(q, k, v, tensor_layout="HND", is_causal=False, sm_scale=None, smooth_k=True,
                             return_lse=False, *, attn_mask=None, dropout_p=0.0, fallback=None):
    """sageattn() with P and V in float16."""
    return attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, False, attn_mask, dropout_p,
                  fallback)


def sageattn_qk_int8_pv_fp8(q, k, v, tensor_layout="HND", is_causal=False, sm_scale=None, smooth_k=True,
                            return_lse=False, *, attn_mask=None, dropout_p=0.0, fallback=None):
    """sageattn() with P and V in fp8 (e4m3)."""
    return attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, True, attn_mask, dropout_p,
                  fallback)


def sageattn_qk_int8_pv_fp16_triton(q, k, v, tensor_layout="HND", quantization_backend="triton", is_causal=False,
                                    attn_mask=None, sm_scale=None, smooth_k=True, return_lse=False, *, dropout_p=0.0,
                                    fallback=None):
    """sageattn_qk_int8_pv_fp16() with SageAttention's order of arguments; there is one backend for quantisation."""
    _one_of("quantization_backend", quantization_backend, ("triton", "cuda"))
    return attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, False, attn_mask, dropout_p,
                  fallback)


def sageattn_qk_int8_pv_fp16_cuda(q, k, v, tensor_layout="HND", is_causal=False, qk_quant_gran="per_thread",
                                  sm_scale=None, pv_accum_dtype="fp32", smooth_k=True, smooth_v=False,
                                  return_lse=False, *, attn_mask=None, dropout_p=0.0, fallback=None):
    """sageattn_qk_int8_pv_fp16() with SageAttention's order of arguments."""
    _check_hints(qk_quant_gran, pv_accum_dtype, _FP16_ACCUMULATORS, smooth_v)
    return attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, False, attn_mask, dropout_p,
                  fallback)


def sageattn_qk_int8_pv_fp8_cuda(q, k, v, tensor_layout="HND", is_causal=False, qk_quant_gran="per_thread",
                                 sm_scale=None, pv_accum_dtype="fp32+fp16", smooth_k=True, smooth_v=False,
                                 return_lse=False, *, attn_mask=None, dropout_p=0.0, fallback=None):
    """sageattn_qk_int8_pv_fp8() with SageAttention's order of arguments."""
    _check_hints(qk_quant_gran, pv_accum_dtype, _FP8_ACCUMULATORS, smooth_v)
    return attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, True, attn_mask, dropout_p,
                  fallback)


def sageattn_qk_int8_pv_fp8_cuda_sm90(q, k, v, tensor_layout="HND", is_causal=False, qk_quant_gran="per_thread",
                                      sm_scale=None, pv_accum_dtype="fp32+fp32", smooth_k=True, return_lse=False, *,
                                      attn_mask=None, dropout_p=0.0, fallback=None):
    """sageattn_qk_int8_pv_fp8() with SageAttention's order of arguments; not only for sm_90."""
    _check_hints(qk_quant_gran, pv_accum_dtype, _FP8_ACCUMULATORS, False)
    return attend(q, k, v, tensor_layout, is_causal, sm_scale, return_lse, smooth_k, True, attn_mask, dropout_p,
                  fallback)
