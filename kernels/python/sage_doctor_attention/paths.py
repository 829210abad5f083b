"""Where the library and its code objects are."""

import os
from pathlib import Path

HOME_VARIABLE = "SAGE_ATTENTION_HOME"


def home() -> Path:
    """The folder with lib/ and kernels/: of this package, or that of SAGE_ATTENTION_HOME.

    An installation of `sage-doctor build` (<prefix>/current) is such a folder too.
    """
    return Path(os.environ.get(HOME_VARIABLE) or Path(__file__).parent)


def library_path() -> Path:
    """libsage_attention, whose C functions include/sage/attention.h declares."""
    return home() / "lib" / "libsage_attention.so.1"


def kernels_folder() -> Path:
    """The folder of code objects that sage_context_from_folder() takes."""
    return home() / "kernels"
