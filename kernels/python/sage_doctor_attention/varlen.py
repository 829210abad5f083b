"""Sequences of different lengths, packed into one tensor.

There are no kernels for that yet: this is a call for each sequence, which costs launches but computes nothing that is not
wanted. The calls go to the caller's stream and to one beside it by turns, the long ones first: the last blocks of a call
leave most of the GPU to the next one. The host must know where the sequences begin, so cu_seqlens on a GPU are copied to it, and the
host waits for that; give them on the CPU, or as a list, to avoid the wait (and to capture a graph).
"""

import threading

import torch

from .arguments import refuse_gradient
from .attention import attend
from .contexts import when_forked
from .errors import ArgumentError
from .operators import define
from .tracing import is_watched


def _boundaries(name, cu_seqlens, tokens, longest):
    values = cu_seqlens.tolist() if isinstance(cu_seqlens, torch.Tensor) else [int(value) for value in cu_seqlens]
    if not isinstance(values, list) or len(values) < 2 or values[0] != 0 or values[-1] != tokens:
        raise ArgumentError(f"{name} must begin with 0 and end with the number of tokens, {tokens}")
    if any(b < a for a, b in zip(values, values[1:])):
        raise ArgumentError(f"{name} must not decrease")
    if longest is not None and max(b - a for a, b in zip(values, values[1:])) > longest:
        raise ArgumentError(f"a sequence of {name} is longer than the given maximum, {longest}")
    return values


class _Beside(threading.local):
    """A thread's stream beside the current one, by device. Kept: torch's allocator has memory of its own for every stream."""

    def __init__(self):
        self.streams = {}

    def stream(self, device):
        if device not in self.streams:
            self.streams[device] = torch.cuda.Stream(device)
        return self.streams[device]


_beside = _Beside()


def _forget():
    global _beside
    _beside = _Beside()


when_forked(_forget)


def _side_by_side(calls, device):
    """Runs the calls, which enqueue work that does not depend on each other's. It is done when the current stream is."""
    if device.type != "cuda" or len(calls) < 2:
        for call in calls:
            call()
        return
    here = torch.cuda.current_stream(device)
    beside = _beside.stream(device)
    beside.wait_stream(here)
    try:
        for i, call in enumerate(calls):
            with torch.cuda.stream(beside if i % 2 else here):
                call()
    finally:
        here.wait_stream(beside)


def _loop(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, is_causal, sm_scale, smooth_k, fallback):
    q_at = _boundaries("cu_seqlens_q", cu_seqlens_q, q.shape[0], max_seqlen_q)
    k_at = _boundaries("cu_seqlens_k", cu_seqlens_k, k.shape[0], max_seqlen_k)
    if len(q_at) != len(k_at):
        raise ArgumentError(f"cu_seqlens_q has {len(q_at) - 1} sequences, cu_seqlens_k {len(k_at) - 1}")
    out = torch.empty_like(q, memory_format=torch.contiguous_format)

    def compute(queries, keys):
        own = out[queries][None]
        made = attend(q[queries][None], k[keys][None], v[keys][None], "NHD", is_causal, sm_scale, False, smooth_k, False,
                      fallback=fallback, into=own)
        if made is not own:
            own.copy_(made)

    sequences = []
    for i in range(len(q_at) - 1):
        queries, keys = slice(q_at[i], q_at[i + 1]), slice(k_at[i], k_at[i + 1])
        if queries.start == queries.stop:
            continue
        if keys.start == keys.stop:  # without a key the output is 0
            out[queries] = 0
            continue
        sequences.append((queries, keys))
    sequences.sort(key=lambda s: (s[0].stop - s[0].start) * (s[1].stop - s[1].start), reverse=True)
    _side_by_side([lambda s=s: compute(*s) for s in sequences], q.device)
    return out


def _real(q, k, v, cu_seqlens_q, cu_seqlens_k, is_causal, sm_scale, smooth_k):
    return _loop(q, k, v, cu_seqlens_q, cu_seqlens_k, None, None, is_causal, sm_scale, smooth_k, "raise")


def _fake(q, k, v, cu_seqlens_q, cu_seqlens_k, is_causal, sm_scale, smooth_k):
    return q.new_empty(q.shape)


_varlen = define(
    "varlen",
    "(Tensor q, Tensor k, Tensor v, Tensor cu_seqlens_q, Tensor cu_seqlens_k, bool is_causal, float? sm_scale, "
    "bool smooth_k) -> Tensor",
    _real, _fake)


def sageattn_varlen(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q=None, max_seqlen_k=None, is_causal=False,
                    sm_scale=None, smooth_k=True, *, fallback=None):
    """Attention of packed sequences, a call for each.

    q: [tokens of all sequences, Hq, D]; k, v: the same with their own tokens and Hkv heads. cu_seqlens_*: where each
    sequence begins, and the end, [sequences + 1] integers: a tensor anywhere, or a list. max_seqlen_*: only checked.
    is_causal is aligned at the top left of each sequence. Returns out, contiguous, of the shape of q; a sequence without
    keys gives zeros. K is smoothed sequence by sequence.
    """
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 3:
            raise ArgumentError(f"{name} is {tuple(tensor.shape)}; packed sequences have 3 dimensions, [tokens, heads, dim]")
    if not is_watched(q, k, v):
        return _loop(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, is_causal, sm_scale, smooth_k,
                     fallback)
    refuse_gradient(q, k, v)
    where = [torch.as_tensor(cu_seqlens) for cu_seqlens in (cu_seqlens_q, cu_seqlens_k)]
    return _varlen(q, k, v, where[0], where[1], is_causal, sm_scale, smooth_k)
