"""What is the same in every call with the same shapes, strides, types and options: worked out once, then looked up."""

import ctypes
import math

import torch

from . import abi
from .arguments import check
from .contexts import context
from .errors import UnsupportedError
from .library import failure, library


class Plan:
    """A checked problem.

    context: Context; problem: bytes of sage_attention_problem; workspace_bytes, and workspace_shape: as many in elements
    of q's type; out_shape and out_stride in the caller's layout; lse_shape and lse_stride: [B, Hq, Nq].
    """

    __slots__ = ("context", "problem", "workspace_bytes", "workspace_shape", "out_shape", "out_stride", "lse_shape",
                 "lse_stride")


def token_major(q, nhd):
    """Whether the output lies in memory as [B, N, H, D], as q does, or as [B, H, N, D].

    A view of a projection is token-major whatever the order of its dimensions, and what follows wants it like that.
    """
    head, token = (2, 1) if nhd else (1, 2)
    return bool(q.stride(token) > q.stride(head))


def out_strides(shape, nhd, by_token):
    """Strides of a dense output of this shape, in the caller's layout."""
    _, heads, tokens, dim = (shape[0], shape[2], shape[1], shape[3]) if nhd else shape
    batch = heads * tokens * dim
    head, token = (dim, heads * dim) if by_token else (tokens * dim, dim)
    return (batch, token, head, 1) if nhd else (batch, head, token, 1)


def _head_first(strides, nhd):
    return (strides[0], strides[2], strides[1], strides[3]) if nhd else strides


_UNSUPPORTED = {
    abi.E_PV_UNAVAILABLE: "no fp8",
    abi.E_NO_KERNEL: "no kernel",
}


def make(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, want_lse, by_token):
    """The Plan of a call; arguments as of launch.run(). Raises the errors of errors.py."""
    check(q, k, v, nhd)
    if by_token is None:
        by_token = token_major(q, nhd)
    plan = Plan()
    plan.context = context(q.device.index)
    head, token = (2, 1) if nhd else (1, 2)
    batch, heads, tokens, dim = q.shape[0], q.shape[head], q.shape[token], q.shape[3]
    plan.out_shape = tuple(q.shape)
    plan.out_stride = out_strides(q.shape, nhd, by_token)
    plan.lse_shape = (batch, heads, tokens)
    plan.lse_stride = (heads * tokens, tokens, 1)
    strides = [_head_first(s, nhd) for s in (q.stride(), k.stride(), v.stride(), plan.out_stride)]
    plan.problem = abi.problem(
        batch, heads, k.shape[head], tokens, k.shape[token], dim,
        abi.IO_F16 if q.dtype == torch.float16 else abi.IO_BF16,
        abi.PV_FP8 if fp8 else abi.PV_F16,
        abi.MASK_CAUSAL_TOP_LEFT if is_causal else abi.MASK_NONE,
        (abi.FLAG_SMOOTH_K if smooth_k else 0) | (abi.FLAG_LSE if want_lse else 0),
        1.0 / math.sqrt(dim) if sm_scale is None else sm_scale,
        strides)
    size = ctypes.c_uint64()
    error = abi.Error()
    status = library().sage_attention_workspace(
        plan.context.handle, plan.problem, ctypes.byref(size), ctypes.byref(error))
    if status in _UNSUPPORTED:
        raise UnsupportedError(_UNSUPPORTED[status], f"{plan.context.target}: {error.text.decode('ascii', 'replace')}")
    if status != abi.OK:
        raise failure(error)
    plan.workspace_bytes = size.value
    plan.workspace_shape = ((size.value + 1) // q.element_size(),)
    return plan
