"""What the environment says: SAGE_ATTENTION=0 turns the kernels off, SAGE_ATTENTION_FALLBACK=sdpa lets torch compute what
they can't. Both are read once, on import."""

import os

from .errors import ArgumentError

SWITCH_VARIABLE = "SAGE_ATTENTION"
FALLBACK_VARIABLE = "SAGE_ATTENTION_FALLBACK"

ENABLED = os.environ.get(SWITCH_VARIABLE, "1").strip().lower() not in ("0", "off", "false", "no")
FALLBACK = os.environ.get(FALLBACK_VARIABLE) or None


def wants_sdpa(fallback):
    """Whether torch may compute what the kernels can't. fallback: "sdpa", "raise", or None for the environment's."""
    chosen = FALLBACK if fallback is None else fallback
    if chosen is None or chosen == "raise":
        return False
    if chosen == "sdpa":
        return True
    raise ArgumentError(f'fallback is {chosen!r}; it must be "sdpa" or "raise"')
