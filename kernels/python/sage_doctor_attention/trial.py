"""Whether it works here: warmup() loads everything, self_test() compares with torch."""

import sys
import time

import torch

from . import contexts
from .arguments import is_nhd
from .attention import attend
from .errors import ArgumentError, SageAttentionError
from .fallback import sdpa

# Relative L1 and worst row that quantisation may cost on normal inputs (docs/kernels.md), by type of P and V. bfloat16
# outputs round to 2^-9 on top.
LIMITS = {"fp16": (0.015, 0.06), "fp8": (0.045, 0.12)}

DEFAULT_SHAPES = ((1, 8, 1024, 64), (1, 8, 1024, 128), (2, 4, 777, 128))


def _index(device):
    if device is None:
        return torch.cuda.current_device() if torch.cuda.is_available() else 0
    index = torch.device(device).index if not isinstance(device, int) else device
    return torch.cuda.current_device() if index is None else index


def warmup(device=None, verbose=False):
    """Loads the library and the kernels of one GPU (default: the current one) and runs a small attention, so that the
    first real call, or a graph's capture, finds everything ready. Waits for the GPU.

    Returns {"target", "kernels", "tuning", "runtime", "load_seconds", "first_call_seconds"}; verbose prints it.
    """
    index = _index(device)
    context = contexts.context(index)
    q = torch.zeros((1, 1, 64, 64), dtype=torch.float16, device=torch.device("cuda", index))
    torch.cuda.synchronize(index)
    started = time.perf_counter()
    with torch.no_grad():
        attend(q, q, q, "HND", False, None, False, True, False)
    torch.cuda.synchronize(index)
    facts = {
        "target": context.target,
        "kernels": context.kernel_count,
        "tuning": context.tuning,
        "runtime": context.runtime_path,
        "load_seconds": context.seconds,
        "first_call_seconds": time.perf_counter() - started,
    }
    if verbose:
        if facts["tuning"]:
            print(f"sage_doctor_attention: {facts['tuning']}")
        print(f"sage_doctor_attention: {facts['kernels']} kernels for {facts['target']} through {facts['runtime']}, "
              f"loaded in {facts['load_seconds'] * 1e3:.1f} ms, first call {facts['first_call_seconds'] * 1e3:.2f} ms")
    return facts


def compare(out, exact, nhd=False):
    """(relative L1, worst row): sum|out - exact| / sum|exact| over everything, and the largest over single rows."""
    if out.dim() == 4 and nhd:
        out, exact = out.transpose(1, 2), exact.transpose(1, 2)
    difference = (out.float() - exact.float()).abs().sum(-1)
    magnitude = exact.float().abs().sum(-1)
    total = (difference.sum() / magnitude.sum().clamp_min(1e-30)).item()
    return total, (difference / magnitude.clamp_min(1e-30)).max().item()


def _case(shape):
    """(B, H, N, D), or a dict with q, k (shapes) and any of tensor_layout, is_causal, dtype."""
    if not isinstance(shape, dict):
        if len(shape) != 4:
            raise ArgumentError(f"a shape is {tuple(shape)}; it must be (batch, heads, tokens, head_dim) or a dict")
        shape = {"q": tuple(shape)}
    unknown = set(shape) - {"q", "k", "tensor_layout", "is_causal", "dtype"}
    if unknown or "q" not in shape:
        raise ArgumentError(f"a shape's keys are {sorted(shape)}; q is needed, and k, tensor_layout, is_causal, dtype may be")
    return {"k": shape["q"], "tensor_layout": "HND", "is_causal": False, "dtype": torch.float16, **shape}


def self_test(shapes=DEFAULT_SHAPES, pv="fp16", device=None, verbose=True, file=None):
    """Compares with torch's SDPA in float32 on normal inputs; prints relative L1 and the worst row for each shape.

    shapes: each (B, H, N, D), or a dict with q and k (shapes), tensor_layout, is_causal, dtype. Returns True when all
    are within LIMITS. An exception of this package counts as a failure, and is printed.
    """
    limit, row_limit = LIMITS[pv]
    index = _index(device)
    good = True
    for shape in shapes:
        case = _case(shape)
        nhd = is_nhd(case["tensor_layout"])
        generator = torch.Generator("cuda" if torch.cuda.is_available() else "cpu").manual_seed(7)
        try:
            contexts.context(index)
            place = torch.device("cuda", index)
            q, k, v = (
                torch.randn(size, dtype=torch.float32, device=place, generator=generator).to(case["dtype"])
                for size in (case["q"], case["k"], case["k"]))
            with torch.no_grad():
                out = attend(q, k, v, case["tensor_layout"], case["is_causal"], None, False, True, pv == "fp8",
                             fallback="raise")
                exact = sdpa(q.float(), k.float(), v.float(), nhd, case["is_causal"], None)
            total, worst = compare(out, exact, nhd)
            fits = total <= limit and worst <= row_limit
            line = f"relative L1 {total:.2e} (limit {limit}), worst row {worst:.2e} (limit {row_limit})"
        except SageAttentionError as error:
            fits, line = False, str(error)
        good = good and fits
        if verbose:
            name = str(case["dtype"]).replace("torch.", "")
            print(f"{'ok  ' if fits else 'FAIL'} q {tuple(case['q'])} k {tuple(case['k'])} {case['tensor_layout']} {name}"
                  f"{' causal' if case['is_causal'] else ''} {pv}: {line}", file=file or sys.stdout)
    return good
