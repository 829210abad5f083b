"""Attention over parts of the keys, put together: ring attention, sequence parallel, a cache in pieces.

With (out_i, lse_i) of the same queries over disjoint sets of keys, softmax over all of them is

    lse = log(sum_i exp(lse_i)),   out = sum_i exp(lse_i - lse) * out_i.

Plain torch operations: any device, traceable, differentiable.
"""

import torch

from .arguments import is_nhd
from .errors import ArgumentError


def merge_partials(outs, lses, tensor_layout="HND"):
    """(out, lse) over the keys of all parts together.

    outs: tensors [B, H, N, D] ("HND") or [B, N, H, D] ("NHD"); lses: for each a float32 [B, H, N], natural logarithm, as
    return_lse=True gives it; -inf where a query saw no key of that part. Sums are in float32; out has the type of the
    first. A query that saw no key at all gets 0 and -inf.
    """
    nhd = is_nhd(tensor_layout)
    if len(outs) == 0 or len(outs) != len(lses):
        raise ArgumentError(f"{len(outs)} outputs and {len(lses)} LSEs; both must be the same number, at least 1")
    for out, lse in zip(outs, lses):
        rows = (out.shape[0], out.shape[2], out.shape[1]) if nhd else tuple(out.shape[:3])
        if out.dim() != 4 or tuple(lse.shape) != rows or out.shape != outs[0].shape:
            raise ArgumentError(
                f"an output is {tuple(out.shape)} and its LSE {tuple(lse.shape)}; in {tensor_layout} every output must be "
                f"like the first, {tuple(outs[0].shape)}, and its LSE [batch, heads, tokens]")
    every = torch.stack([lse.float() for lse in lses])
    lse = torch.logsumexp(every, dim=0)
    # exp(-inf - -inf) is no number; such a row has no weight anywhere.
    weights = torch.exp(every - torch.where(torch.isneginf(lse), torch.zeros_like(lse), lse))
    if nhd:
        weights = weights.transpose(2, 3)
    total = weights[0].unsqueeze(-1) * outs[0].float()
    for weight, out in zip(weights[1:], outs[1:]):
        total = total + weight.unsqueeze(-1) * out.float()
    return total.to(outs[0].dtype), lse
