"""What a call may look like, checked before anything is launched.

Everything here is written so that torch.compile can trace it: shapes, types and devices only.
"""

import torch

from . import abi, runtime
from .errors import ArgumentError, UnsupportedError

MAX_ELEMENTS = 2**31 - 1


def is_nhd(tensor_layout):
    """"HND" is [batch, heads, tokens, dim], "NHD" [batch, tokens, heads, dim]."""
    if tensor_layout == "HND":
        return False
    if tensor_layout == "NHD":
        return True
    raise ArgumentError(f'tensor_layout is {tensor_layout!r}; it must be "HND" or "NHD"')


def refuse_gradient(q, k, v):
    """Raises UnsupportedError where a backward pass would be recorded, ArgumentError for what is no tensor."""
    try:
        wanted = q.requires_grad or k.requires_grad or v.requires_grad
    except AttributeError:
        kinds = ", ".join(type(given).__name__ for given in (q, k, v))
        raise ArgumentError(f"q, k and v are {kinds}; they must be tensors") from None
    if wanted and torch.is_grad_enabled():
        raise UnsupportedError(
            "gradient",
            "an input requires a gradient, and these kernels have no backward pass: call under torch.no_grad() or "
            "torch.inference_mode(), or detach the inputs")


def is_on_gpu(tensor):
    """torch calls AMD's GPUs cuda too."""
    return tensor.is_cuda


def _check_kind(name, tensor):
    if tensor.layout != torch.strided or tensor.is_nested:
        raise UnsupportedError("layout", f"{name} is a sparse or nested tensor; only strided ones are supported")
    if tensor.dim() != 4:
        raise ArgumentError(f"{name} has {tensor.dim()} dimensions {tuple(tensor.shape)}; it must have 4")


def _check_alike(name, tensor, q):
    if tensor.device != q.device:
        raise ArgumentError(f"q is on {q.device} and {name} on {tensor.device}; all must be on the same GPU")
    if tensor.dtype != q.dtype:
        raise ArgumentError(f"q is {q.dtype} and {name} {tensor.dtype}; all must have the same type")


def _check_size(name, tensor):
    if tensor.numel() == 0:
        raise ArgumentError(f"{name} has no elements: {tuple(tensor.shape)}")
    if tensor.numel() > MAX_ELEMENTS:
        raise UnsupportedError(
            "size", f"{name} has {tensor.numel()} elements; at most {MAX_ELEMENTS} are supported: split the batch")


def check(q, k, v, nhd):
    """Raises ArgumentError or UnsupportedError with the first thing that is wrong.

    q: [B, Hq, Nq, D], k and v: [B, Hkv, Nk, D] of float16 or bfloat16 on one GPU; with nhd heads and tokens change
    places.
    """
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        _check_kind(name, tensor)
        _check_alike(name, tensor, q)
        _check_size(name, tensor)
    if not is_on_gpu(q):
        why = runtime.why_no_gpu()
        raise ArgumentError(f"q, k and v are on {q.device}; they must be on a GPU{'' if why is None else ', and ' + why}")
    if q.dtype != torch.float16 and q.dtype != torch.bfloat16:
        raise UnsupportedError("dtype", f"q is {q.dtype}; float16 and bfloat16 are supported")
    head, token = (2, 1) if nhd else (1, 2)
    if k.shape[head] != v.shape[head] or k.shape[token] != v.shape[token]:
        raise ArgumentError(f"k is {tuple(k.shape)} and v {tuple(v.shape)}; they must have the same heads and tokens")
    if q.shape[0] != k.shape[0] or q.shape[0] != v.shape[0]:
        raise ArgumentError(f"the batch of q is {q.shape[0]}, of k {k.shape[0]}, of v {v.shape[0]}; it must be the same")
    if q.shape[3] != k.shape[3]:
        raise ArgumentError(f"the head_dim of q is {q.shape[3]} and of k {k.shape[3]}; it must be the same")
    if q.shape[head] % k.shape[head] != 0:
        raise ArgumentError(f"q has {q.shape[head]} heads, which is no multiple of the {k.shape[head]} heads of k and v")
    if v.shape[3] != q.shape[3]:
        raise UnsupportedError("head_dim", f"the head_dim of v is {v.shape[3]}, of q {q.shape[3]}; both must be the same")
    if q.shape[3] > abi.MAX_HEAD_DIM:
        raise UnsupportedError("head_dim", f"head_dim is {q.shape[3]}; at most {abi.MAX_HEAD_DIM} is supported")
    if q.shape[token] > abi.MAX_Q_LEN or k.shape[token] > abi.MAX_KV_LEN:
        raise UnsupportedError(
            "length",
            f"{q.shape[token]} queries and {k.shape[token]} keys; at most {abi.MAX_Q_LEN} and {abi.MAX_KV_LEN} are "
            "supported")
