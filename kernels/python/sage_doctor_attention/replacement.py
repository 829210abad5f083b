"""torch.nn.functional.scaled_dot_product_attention replaced, under stated rules.

The name is replaced in torch.nn.functional, so programs that look it up there at each call are served (diffusers,
transformers, ComfyUI, torch.nn.MultiheadAttention). One that has imported the function itself before install() is not, nor
is torch's fused fast path of nn.TransformerEncoderLayer, which does not call it.
"""

import contextlib
import threading

import torch
import torch.nn.functional as F

from . import arguments, contexts
from .attention import attend
from .errors import ArgumentError, LibraryError, UnsupportedError
from .counts import count_fallback
from .switch import ENABLED
from .tracing import is_compiling, is_plain

_NAME = "scaled_dot_product_attention"


class Rules:
    """Which calls are taken. The others go to the function that was there before, counted by reason.

    min_q_len, min_kv_len: fewer queries or keys are not worth their quantisation. max_head_dim, min_head_dim. dtypes.
    pv: "fp16" or "fp8". smooth_k: see sageattn().
    Beside these: 4 dimensions, on a GPU, equal types, devices and head_dims, no mask, no dropout, no gradient.
    """

    __slots__ = ("min_q_len", "min_kv_len", "min_head_dim", "max_head_dim", "dtypes", "fp8", "smooth_k")

    def __init__(self, min_q_len=64, min_kv_len=1024, min_head_dim=33, max_head_dim=256,
                 dtypes=(torch.float16, torch.bfloat16), pv="fp16", smooth_k=True):
        if pv not in ("fp16", "fp8"):
            raise ArgumentError(f'pv is {pv!r}; it must be "fp16" or "fp8"')
        self.min_q_len = min_q_len
        self.min_kv_len = min_kv_len
        self.min_head_dim = min_head_dim
        self.max_head_dim = min(max_head_dim, 256)
        self.dtypes = tuple(dtypes)
        self.fp8 = pv == "fp8"
        self.smooth_k = smooth_k

    def refusal(self, q, k, v, attn_mask, dropout_p, enable_gqa):
        """Why this call is not taken, in one or two words; None: it is."""
        if attn_mask is not None:
            return "mask"
        if dropout_p != 0.0:
            return "dropout"
        if not (is_plain(q) and is_plain(k) and is_plain(v)) and not is_compiling():
            return "tensor class"
        if q.layout != torch.strided or q.is_nested or q.dim() != 4 or k.dim() != 4 or v.dim() != 4:
            return "layout"
        if not arguments.is_on_gpu(q) or k.device != q.device or v.device != q.device:
            return "device"
        if q.dtype not in self.dtypes or k.dtype != q.dtype or v.dtype != q.dtype:
            return "dtype"
        if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad):
            return "gradient"
        batch, heads, queries, dim = q.shape
        if k.shape[3] != dim or v.shape[3] != dim or not self.min_head_dim <= dim <= self.max_head_dim:
            return "head_dim"
        if queries < self.min_q_len or k.shape[2] < self.min_kv_len:
            return "length"
        if k.shape[:3] != v.shape[:3] or k.shape[0] != batch:
            return "shape"
        if heads != k.shape[1] and (not enable_gqa or heads % k.shape[1] != 0):
            return "heads"
        if max(q.numel(), k.numel()) > arguments.MAX_ELEMENTS or q.numel() == 0:
            return "size"
        return None


def _replacement(rules, previous):
    def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                     enable_gqa=False):
        reason = rules.refusal(query, key, value, attn_mask, dropout_p, enable_gqa)
        if reason is None:
            try:
                return attend(query, key, value, "HND", is_causal, scale, False, rules.smooth_k, rules.fp8,
                              fallback="raise")
            except UnsupportedError as error:
                reason = error.reason
        if not is_compiling():
            count_fallback(reason)
        options = {}
        if scale is not None:
            options["scale"] = scale
        if enable_gqa:
            options["enable_gqa"] = True
        return previous(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, **options)

    scaled_dot_product_attention.sage_doctor_attention = True
    return scaled_dot_product_attention


_lock = threading.Lock()
_installed = None  # (the replacement, what was there before)


def install(**rules):
    """Replaces torch.nn.functional.scaled_dot_product_attention; arguments as of Rules. Again: with the new rules.

    True when it is replaced, False when SAGE_ATTENTION=0. Raises LibraryError when the kernels cannot work here: the
    library or its code objects are missing, torch has no GPU or none that they are for.
    """
    global _installed
    chosen = Rules(**rules)
    if not ENABLED:
        return False
    contexts.context(torch.cuda.current_device() if torch.cuda.is_available() else 0)
    if not hasattr(F, _NAME):
        raise LibraryError(f"PyTorch {torch.__version__} has no {_NAME}; 2.0 and later have it")
    with _lock:
        previous = getattr(F, _NAME) if _installed is None else _installed[1]
        if _installed is not None and getattr(F, _NAME) is not _installed[0]:
            raise ArgumentError(f"somebody replaced torch.nn.functional.{_NAME} after install(): undo that first")
        _installed = (_replacement(chosen, previous), previous)
        setattr(F, _NAME, _installed[0])
    return True


def uninstall():
    """Puts back what was there before install(). False: nothing was installed."""
    global _installed
    with _lock:
        if _installed is None:
            return False
        replacement, previous = _installed
        if getattr(F, _NAME) is not replacement:
            raise ArgumentError(f"somebody replaced torch.nn.functional.{_NAME} after install(): undo that first")
        setattr(F, _NAME, previous)
        _installed = None
    return True


def is_installed():
    return _installed is not None


@contextlib.contextmanager
def installed(**rules):
    """install() for the length of a with statement. For the whole process, not only this thread."""
    if _installed is not None:
        raise ArgumentError("it is installed already")
    done = install(**rules)
    try:
        yield done
    finally:
        if done:
            uninstall()
