"""Whether somebody watches: torch.compile, a fake-tensor mode, torch.jit.trace."""

import torch


def _never():
    return False


_compiler = getattr(torch, "compiler", None)
is_compiling = getattr(_compiler, "is_compiling", _never)
_dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", _never)
_tracing_state = getattr(torch._C, "_get_tracing_state", _never)

_plain = (torch.Tensor, torch.nn.Parameter)


def is_plain(tensor):
    """Whether it is a tensor with memory of its own, no subclass that stands for something else."""
    return type(tensor) in _plain


def is_watched(q, k, v):
    """Whether the call must go through an operator to be seen, or to be answered for tensors without memory."""
    return (
        is_compiling()
        or type(q) not in _plain
        or type(k) not in _plain
        or type(v) not in _plain
        or _dispatch_modes() != 0
        or bool(_tracing_state())
    )
