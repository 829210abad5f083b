"""What a benchmark compares: this package, torch's own attention by backend, and other packages where they are installed.

A contender takes q, k, v as [B, H, N, D] and computes attention in the form that it likes best; what it must rearrange for
that is views only, so that nothing of it is timed.
"""

import contextlib
import importlib

import torch

from . import alias, trial
from .attention import attend
from .errors import LibraryError
from .fallback import original
from .runtime import HIP
from .varlen import sageattn_varlen

# What an output may be off, relative L1 and worst row: the limits that `sage-doctor build` holds kernels to. bfloat16 rounds
# to 2^-9 on top.
F16_LIMITS = (0.012, 0.05)
FP8_LIMITS = (0.042, 0.12)
BF16_MORE = 0.002


class Contender:
    """name; limits: relative L1 and worst row; run(q, k, v, is_causal); ours: a failure of it is an error.

    largest: elements of the score matrix [B, H, N, N] beyond which it is left out, or None. packed(q, k, v, boundaries,
    is_causal): the same of packed sequences, or None. products: types in which its two products are multiplied, or None.
    """

    def __init__(self, name, run, limits=F16_LIMITS, ours=False, largest=None, packed=None, products=None):
        self.name = name
        self.run = run
        self.limits = limits
        self.ours = ours
        self.largest = largest
        self.packed = packed
        self.products = products


def _ours(fp8):
    def run(q, k, v, is_causal):
        return attend(q, k, v, "HND", is_causal, None, False, True, fp8, fallback="raise")

    return run


def _packed(q, k, v, boundaries, is_causal):
    return sageattn_varlen(q, k, v, boundaries, boundaries, is_causal=is_causal, fallback="raise")


def _grouped(q, k):
    """What SDPA wants to be told of fewer heads of K and V; torch before 2.5 has no such argument, and none is given it."""
    return {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}


def _default(q, k, v, is_causal):
    return original()(q, k, v, is_causal=is_causal, **_grouped(q, k))


def _backend(backend):
    kernels = torch.nn.attention.sdpa_kernel

    def run(q, k, v, is_causal):
        with kernels(backend):
            return original()(q, k, v, is_causal=is_causal, **_grouped(q, k))

    return run


def _backends():
    """(name, torch.nn.attention.SDPBackend) of this torch. On ROCm flash and efficient are AOTriton's kernels."""
    backends = getattr(getattr(torch.nn, "attention", None), "SDPBackend", None)
    names = [("flash", "FLASH_ATTENTION"), ("efficient", "EFFICIENT_ATTENTION")]
    if not HIP:
        names.append(("cudnn", "CUDNN_ATTENTION"))
    names.append(("math", "MATH"))
    return [(name, getattr(backends, member)) for name, member in names if hasattr(backends, member)]


def _sageattention(module):
    def run(q, k, v, is_causal):
        return module.sageattn(q, k, v, tensor_layout="HND", is_causal=is_causal)

    return run


def _flash_attn(module):
    def run(q, k, v, is_causal):
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        return module.flash_attn_func(q, k, v, causal=is_causal).transpose(1, 2)

    return run


def _installed(name):
    """The module, or None. A package that is there and fails to load is as good as none: why is said in `notes`."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return None


def available(math_elements, notes):
    """The contenders of this environment. math_elements: score elements that the math backend may have in memory."""
    found = [Contender("sage f16", _ours(False), ours=True, packed=_packed, products=("int8", "f16")),
             Contender("sage fp8", _ours(True), FP8_LIMITS, ours=True, products=("int8", "fp8"))]
    if hasattr(torch.nn, "attention"):
        for name, backend in _backends():
            found.append(Contender(f"sdpa {name}", _backend(backend), largest=math_elements if name == "math" else None,
                                   products=("f16", "f16")))
    else:
        notes.append(f"PyTorch {torch.__version__} does not let a backend be chosen; only its default is compared")
    with contextlib.suppress(LibraryError):
        original()
        found.append(Contender("sdpa default", _default, products=("f16", "f16")))
    for name, make in (("sageattention", _sageattention), ("flash_attn", _flash_attn)):
        try:
            module = _installed(name)
        except Exception as error:  # noqa: BLE001: whatever a foreign package raises when it is imported
            notes.append(f"{name} is installed and fails to load: {type(error).__name__}: {error}")
            continue
        if module is None:
            continue
        if getattr(module, "__version__", "") == alias.VERSION:
            continue  # leads here
        # The version that it takes by itself may be one with fp8, so what it multiplies in is not known.
        found.append(Contender(name, make(module), FP8_LIMITS, products=("f16", "f16") if name == "flash_attn" else None))
    return found


def compare(out, exact):
    """(relative L1, RMSE, worst row) of rows [..., D]."""
    total, worst = trial.compare(out, exact)
    return total, (out.double() - exact.double()).square().mean().sqrt().item(), worst
