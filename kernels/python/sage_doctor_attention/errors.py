"""What can go wrong, as exceptions. Every text has the values in question and, where there is one, the way out."""


class SageAttentionError(RuntimeError):
    """The base of all errors of this package."""


class ArgumentError(SageAttentionError, ValueError):
    """A call that means nothing: mixed devices, head counts that do not divide, an unknown tensor layout."""


class UnsupportedError(SageAttentionError, ValueError):
    """A call that means something, which these kernels do not compute: a mask, dropout, a gradient, float32.

    `reason` is one or two words, under which statistics() counts such calls.
    """

    def __init__(self, reason, text):
        super().__init__(text)
        self.reason = reason


class LibraryError(SageAttentionError):
    """The library, its code objects, the GPU's runtime or the GPU itself is missing or does not fit.

    `status` is the SAGE_E_* number of attention.h, or None where the library was not reached.
    """

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status
