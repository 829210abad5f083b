"""The attention kernels that `sage-doctor build --install` put here: the library and its code objects."""

from pathlib import Path

_folder = Path(__file__).parent


def library_path() -> Path:
    """libsage_attention, whose C functions include/sage/attention.h declares."""
    return _folder / "lib" / "libsage_attention.so.1"


def kernels_folder() -> Path:
    """The folder of code objects that sage_context_from_folder() takes."""
    return _folder / "kernels"
