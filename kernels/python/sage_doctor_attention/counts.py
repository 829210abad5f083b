"""How many calls were computed by the kernels, and how many went to torch, and why."""

import threading
from collections import Counter

_lock = threading.Lock()
_launched = 0
_fallback = Counter()


def count_launch():
    global _launched
    with _lock:
        _launched += 1


def count_fallback(reason):
    with _lock:
        _fallback[reason] += 1


def statistics():
    """{"launched": calls of the kernels, "fallback": {reason: calls that torch computed}}, since the last reset.

    A function that torch.compile has compiled counts its launches only: what falls back was decided while tracing. A
    replayed graph counts nothing.
    """
    with _lock:
        return {"launched": _launched, "fallback": dict(_fallback)}


def reset_statistics():
    global _launched
    with _lock:
        _launched = 0
        _fallback.clear()
