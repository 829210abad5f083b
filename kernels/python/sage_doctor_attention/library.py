"""libsage_attention in this process: loaded once, its version checked, its errors made exceptions."""

import ctypes
import threading

from . import abi, paths
from .errors import LibraryError

_lock = threading.Lock()
_loaded = None


def _load():
    path = paths.library_path()
    if not path.is_file():
        raise LibraryError(
            f"{path} is missing: install the package with `sage-doctor build --install`, or set "
            f"{paths.HOME_VARIABLE} to a folder that has lib/ and kernels/")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(f"{path} cannot be loaded: {error}") from None
    for name, (result, arguments) in abi.PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryError(
                f"{path} has no function {name}: it is another library, or of another version than this package; "
                "install both again with `sage-doctor build --install`") from None
        function.restype = result
        function.argtypes = arguments
    version = library.sage_attention_version()
    if version < abi.VERSION:
        raise LibraryError(
            f"{path} has interface version {version}, this package needs {abi.VERSION}: install both again with "
            "`sage-doctor build --install`")
    return library


def library():
    """The ctypes.CDLL. Raises LibraryError."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def failure(error):
    """A filled sage_error as a LibraryError."""
    return LibraryError(error.text.decode("ascii", "replace"), error.status)
