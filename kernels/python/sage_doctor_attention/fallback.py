"""torch's own attention, for what the kernels do not compute."""

import torch
import torch.nn.functional as F

from .errors import ArgumentError, LibraryError
from .counts import count_fallback
from .tracing import is_compiling

# The function as it was when this package was imported: install() replaces the name, not this.
_sdpa = getattr(F, "scaled_dot_product_attention", None)


def _takes(name):
    # A builtin without a signature that Python can read; its documentation has it.
    return _sdpa is not None and name in (_sdpa.__doc__ or "")


_takes_scale = _takes("scale=")
_takes_gqa = _takes("enable_gqa")


def original():
    """torch.nn.functional.scaled_dot_product_attention. Raises LibraryError where torch has none (before 2.0)."""
    if _sdpa is None:
        raise LibraryError(f"PyTorch {torch.__version__} has no scaled_dot_product_attention; 2.0 and later have it")
    return _sdpa


def _repeated(tensor, times):
    return tensor if times == 1 else tensor.repeat_interleave(times, dim=1)


def sdpa(q, k, v, nhd, is_causal, sm_scale, attn_mask=None, dropout_p=0.0):
    """Attention by torch with the arguments of this package, uncounted; out in the layout of q."""
    compute = original()
    if nhd:
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    options = {}
    if sm_scale is not None:
        if _takes_scale:
            options["scale"] = sm_scale
        else:
            q = q * (sm_scale * q.shape[-1] ** 0.5)
    groups = q.shape[1] // k.shape[1]
    if groups > 1 and _takes_gqa:
        options["enable_gqa"] = True
    else:
        k, v = _repeated(k, groups), _repeated(v, groups)
    out = compute(q, k, v, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, **options)
    return out.transpose(1, 2) if nhd else out


def fall_back(reason, q, k, v, nhd, is_causal, sm_scale, return_lse, attn_mask, dropout_p):
    """sdpa(), counted under `reason`."""
    if return_lse:
        raise ArgumentError(
            f"the call cannot go to torch (reason: {reason}), because it asks for the LSE, which torch's attention does "
            "not return")
    if not is_compiling():
        count_fallback(reason)
    return sdpa(q, k, v, nhd, is_causal, sm_scale, attn_mask, dropout_p)
