"""One call of the kernels, in as little Python as it takes.

Nothing is shared between threads but plans, which never change. The workspace comes from torch's caching allocator: it is
given back on return and may be used again by the next work on the same stream, and inside a graph it belongs to the
graph's pool.
"""

import ctypes
import threading

import torch

from . import abi, plan, runtime
from .contexts import when_forked
from .library import failure, library
from .counts import count_launch

_MOST_PLANS = 4096
_plans = {}
when_forked(_plans.clear)

_float32 = torch.float32
_empty_strided = torch.empty_strided


def _raw_stream_by_object(index):
    return torch.cuda.current_stream(index).cuda_stream


# The functions that torch's own generated code calls: each a tenth of what the public one costs.
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", _raw_stream_by_object)
_current_device = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)


_dense = (1,)


class _Local(threading.local):
    """An error structure a thread, and the pointer to it."""

    def __init__(self):
        self.error = abi.Error()
        self.pointer = ctypes.pointer(self.error)


_local = _Local()


def _no_library(*arguments):
    global _launch
    _launch = library().sage_attention_launch
    return _launch(*arguments)


_launch = _no_library


def _failed(found, buffers, stream, local):
    """The launch failed: once more where all that was missing is a context of this thread."""
    if local.error.status in (abi.E_NO_DEVICE, abi.E_WRONG_DEVICE) and not runtime.HIP:
        runtime.make_current(found.context.index, found.context.runtime_path)
        if _launch(found.context.handle, found.problem, buffers, stream, local.pointer) == abi.OK:
            return
    raise failure(local.error)


def _enqueue(found, q, k, v, want_lse, into):
    index = found.context.index
    # The cheapest ways to allocate: by strides, in q's own type where the type means nothing.
    out = q.new_empty_strided(found.out_shape, found.out_stride) if into is None else into
    lse = _empty_strided(found.lse_shape, found.lse_stride, dtype=_float32, device=q.device) if want_lse else None
    workspace = q.new_empty_strided(found.workspace_shape, _dense)
    buffers = abi.buffers(
        q.data_ptr(), k.data_ptr(), v.data_ptr(), out.data_ptr(), 0 if lse is None else lse.data_ptr(),
        workspace.data_ptr(), found.workspace_bytes)
    stream = _raw_stream(index)
    local = _local
    if _launch(found.context.handle, found.problem, buffers, stream, local.pointer) != 0:
        _failed(found, buffers, stream, local)
    count_launch()
    return out, lse


def run(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, want_lse, by_token=None, into=None):
    """(out, lse): the attention of checked or unchecked tensors, enqueued on the current stream of their GPU.

    sm_scale None: 1/sqrt(head_dim). by_token: order of the output in memory, see plan.token_major(); None: as q's.
    into: dense memory for out in that order, or None for new memory.
    out: shape and layout of q, dense. lse: float32 [B, Hq, Nq] natural logarithm, or None. Raises the errors of
    errors.py; then nothing has been launched.
    """
    key = (q.shape, q.stride(), k.shape, k.stride(), v.shape, v.stride(), q.dtype, k.dtype, v.dtype, q.device, k.device,
           v.device, nhd, is_causal, sm_scale, smooth_k, fp8, want_lse, by_token)
    found = _plans.get(key)
    if found is None:
        found = plan.make(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, want_lse, by_token)
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        _plans[key] = found
    if _current_device() == found.context.index:
        return _enqueue(found, q, k, v, want_lse, into)
    with torch.cuda.device(found.context.index):
        return _enqueue(found, q, k, v, want_lse, into)
