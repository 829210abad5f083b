"""A context of the library for each GPU: made on first use, kept for the life of the process.

After fork() the child has the parent's handles and none of its GPU state, so in a child everything is forgotten, and the
first call says what happened.
"""

import ctypes
import os
import threading
import time

import torch

from . import abi, paths, runtime
from .errors import LibraryError
from .library import failure, library


class Context:
    """sage_context of one device.

    handle: address; index: torch's number of the device; target: "sm_90", "gfx1201"; runtime_path: the driver library in
    use; kernel_count: attention kernels for this GPU; tuning: what became of a tuning.txt (`sage-doctor bench --tune`), "" where
    there is none; seconds: what making it took.
    """

    __slots__ = ("handle", "index", "target", "runtime_path", "kernel_count", "tuning", "seconds")

    def __init__(self, handle, index, seconds):
        self.handle = handle
        self.index = index
        self.seconds = seconds
        info = abi.ContextInfo()
        error = abi.Error()
        if library().sage_context_describe(handle, ctypes.byref(info), ctypes.byref(error)) != abi.OK:
            raise failure(error)
        self.target = info.target.decode()
        self.runtime_path = os.fsdecode(info.runtime_path)
        self.kernel_count = info.kernel_count
        self.tuning = library().sage_context_tuning(handle).decode("ascii", "replace")


_lock = threading.Lock()
_contexts = {}
_forked = False
_forget = []


def when_forked(callback):
    """`callback` is called in a child after fork(), to forget what belongs to the parent's contexts."""
    _forget.append(callback)


def _after_fork():
    global _lock, _forked
    _lock = threading.Lock()
    _forked = _forked or bool(_contexts)
    _contexts.clear()
    for callback in _forget:
        callback()


os.register_at_fork(after_in_child=_after_fork)


def _from_folder(index):
    options = abi.ContextOptions(
        ctypes.sizeof(abi.ContextOptions), abi.VERSION, runtime.api(), 0, runtime.torch_runtime_path())
    folder = os.fsencode(paths.kernels_folder())
    handle = ctypes.c_void_p()
    error = abi.Error()

    def attempt():
        return library().sage_context_from_folder(
            folder, ctypes.byref(options), ctypes.byref(handle), ctypes.byref(error))

    status = attempt()
    if status == abi.E_NO_DEVICE:
        for driver in runtime.mapped_files(("libcuda.so",))[:1]:
            runtime.make_current(index, driver)
            status = attempt()
    if status != abi.OK:
        raise failure(error)
    return handle.value


def _make(index):
    if _forked:
        raise LibraryError(
            "the GPU was used before this process was forked, and its contexts do not survive fork(): start worker "
            "processes with the spawn method (torch.multiprocessing.set_start_method('spawn'))")
    runtime.require_gpu()
    library()
    if torch.cuda.is_current_stream_capturing():
        raise LibraryError(
            "the kernels are not loaded yet, and cannot be while a graph is captured: call "
            "sage_doctor_attention.warmup() before")
    started = time.perf_counter()
    with torch.cuda.device(index):
        handle = _from_folder(index)
    return Context(handle, index, time.perf_counter() - started)


def context(index):
    """The Context of CUDA device `index` (torch's number). Raises LibraryError."""
    found = _contexts.get(index)
    if found is not None:
        return found
    with _lock:
        if index not in _contexts:
            _contexts[index] = _make(index)
        return _contexts[index]
