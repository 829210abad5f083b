"""The GPU runtime that torch uses.

Two copies of a HIP runtime in one process have a device state each, and a stream of the one is garbage to the other. So
this package never loads one: the library takes what is mapped, and where two copies are mapped (PyTorch's own and that of
/opt/rocm) it must be told which of them made torch's streams.
"""

import ctypes
import os
from pathlib import Path

import torch

from . import abi
from .errors import LibraryError

HIP = getattr(torch.version, "hip", None)
CUDA = getattr(torch.version, "cuda", None)


def why_no_gpu():
    """Why this torch can use no GPU, in one line; None: it can."""
    if not HIP and not CUDA:
        return f"this PyTorch ({torch.__version__}) is a build for the CPU; `sage-doctor check` says which one to install"
    if not torch.cuda.is_available():
        return (f"this PyTorch ({torch.__version__}, for {'ROCm' if HIP else 'CUDA'}) sees no GPU; `sage-doctor check` "
                "says why")
    return None


def require_gpu():
    """Raises LibraryError where this torch cannot use a GPU; otherwise torch's side of it is initialised."""
    why = why_no_gpu()
    if why is not None:
        raise LibraryError(why)
    torch.cuda.init()


def api():
    """SAGE_API_* of this torch."""
    return abi.API_HIP if HIP else abi.API_CUDA


class _Where(ctypes.Structure):
    """Dl_info of dlfcn.h"""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def torch_runtime_path():
    """The file of the HIP runtime that torch itself is linked with, as bytes; None where that cannot be told.

    A search from libc10_hip goes through that library's own dependencies, whatever else the process has mapped.
    """
    if not HIP:
        return None
    library = Path(torch.__file__).parent / "lib" / "libc10_hip.so"
    try:
        linked = ctypes.CDLL(str(library), mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        address = ctypes.cast(linked.hipGetDevice, ctypes.c_void_p)
        find = ctypes.CDLL(None).dladdr
    except (OSError, AttributeError):
        return None
    find.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Where)]
    where = _Where()
    return where.file if find(address, ctypes.byref(where)) else None


def make_current(index, runtime_path):
    """Makes torch's context of CUDA device `index` the calling thread's.

    torch sets a thread's context on its first call that needs one; a thread that only launches through the driver has
    none. HIP has no contexts: nothing is to do there.
    """
    if HIP:
        return
    driver = ctypes.CDLL(os.fsdecode(runtime_path), mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    context = ctypes.c_void_p()
    result = driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ctypes.c_int(index))
    if result == 0:
        result = driver.cuCtxSetCurrent(context)
    if result != 0:
        raise LibraryError(f"CUDA device {index} could not be made this thread's: error {result}")


def mapped_files(stems):
    """Files mapped in this process whose names begin with one of the stems, sorted."""
    found = set()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.split(None, 5)[-1].strip() if line.count("/") else ""
            if path.rsplit("/", 1)[-1].startswith(tuple(stems)):
                found.add(path)
    return sorted(found)
