"""A stand-in for the library and the GPU: the package's whole Python side runs on the CPU.

The library's functions are answered by Python: a launch decodes the bytes that the package made, as C would, and computes
what they describe, in float32, into the memory that they name.
"""

import contextlib
import ctypes
import os
import struct
import sys
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "kernels" / "python"))

try:
    import torch

    WHY_NO_TORCH = None
except ImportError as error:
    torch = None
    WHY_NO_TORCH = f"PyTorch is missing here ({error})"


def main():
    """unittest.main(), or exit status 77 with the reason: ctest then says "skipped"."""
    if torch is None:
        print(f"skipped: {WHY_NO_TORCH}")
        sys.exit(77)
    unittest.main()


PROBLEM = struct.Struct("@IIiiiiiiIIIIfI16q")
BUFFERS = struct.Struct("@IIPPPPPPQ")


def tensor_at(address, shape, strides, dtype):
    """The tensor that lies there; strides in elements, in the order of shape."""
    reach = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
    memory = (ctypes.c_byte * (reach * (4 if dtype == torch.float32 else 2))).from_address(address)
    return torch.frombuffer(memory, dtype=dtype).as_strided(shape, strides)


def attention(q, k, v, is_causal, scale):
    """(out, lse) in float32 of [B, H, N, D]; grouped heads, top-left causal."""
    groups = q.shape[1] // k.shape[1]
    k, v = k.float().repeat_interleave(groups, 1), v.float().repeat_interleave(groups, 1)
    scores = q.float() @ k.transpose(2, 3) * scale
    if is_causal:
        hidden = torch.ones(scores.shape[2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)


class Launch:
    """A launch as the library sees it."""

    def __init__(self, problem, buffers, stream):
        fields = PROBLEM.unpack(problem)
        (self.size, self.version, self.batch, self.q_heads, self.kv_heads, self.q_len, self.kv_len, self.head_dim,
         self.io_type, self.pv_type, self.mask, self.flags, self.sm_scale, self.reserved) = fields[:14]
        self.strides = [fields[14 + 4 * i:18 + 4 * i] for i in range(4)]
        self.buffers = BUFFERS.unpack(buffers)
        self.stream = stream

    def compute(self):
        _, _, q, k, v, out, lse, _, _ = self.buffers
        dtype = (torch.float16, torch.bfloat16)[self.io_type]
        rows = (self.batch, self.q_heads, self.q_len, self.head_dim)
        keys = (self.batch, self.kv_heads, self.kv_len, self.head_dim)
        result, result_lse = attention(
            tensor_at(q, rows, self.strides[0], dtype), tensor_at(k, keys, self.strides[1], dtype),
            tensor_at(v, keys, self.strides[2], dtype), self.mask == 2, self.sm_scale)
        tensor_at(out, rows, self.strides[3], dtype).copy_(result)
        if lse:
            contiguous = (self.q_heads * self.q_len, self.q_len, 1)
            tensor_at(lse, rows[:3], contiguous, torch.float32).copy_(result_lse)


class Library:
    """Answers like libsage_attention. `answers`: status by function name, for calls that shall fail."""

    def __init__(self):
        self.launches = []
        self.answers = {}
        self.text = b"as told"

    def _answer(self, name, error):
        status = self.answers.get(name, 0)
        if callable(status):
            status = status()
        error = error.contents if hasattr(error, "contents") else error._obj
        error.status = status
        error.text = self.text if status else b""
        return status

    def sage_attention_workspace(self, context, problem, size, error):
        size._obj.value = 1024
        return self._answer("workspace", error)

    def sage_attention_launch(self, context, problem, buffers, stream, error):
        status = self._answer("launch", error)
        if status == 0:
            self.launches.append(Launch(problem, buffers, stream))
            self.launches[-1].compute()
        return status


class Context:
    handle = 4711
    index = None
    target = "gfx1201"
    runtime_path = "/stand-in/libamdhip64.so"
    kernel_count = 16
    tuning = ""
    seconds = 0.0


class Emulated:
    """The real library on the stand-in libamdhip64 that runs kernels on emulated lanes.

    The GPU's allocator aligns to more than the CPU's, so the workspace is asked for with room, and moved.
    """

    ROOM = 256

    def __init__(self):
        from sage_doctor_attention.library import library

        self.hip = ctypes.CDLL(os.environ["SAGE_TEST_HIP"])
        self.real = library()

    def sage_attention_workspace(self, context, problem, size, error):
        status = self.real.sage_attention_workspace(context, problem, size, error)
        size._obj.value += self.ROOM
        return status

    def sage_attention_launch(self, context, problem, buffers, stream, error):
        fields = list(BUFFERS.unpack(buffers))
        fields[7] = (fields[7] + self.ROOM - 1) // self.ROOM * self.ROOM
        fields[8] -= self.ROOM
        return self.real.sage_attention_launch(context, problem, BUFFERS.pack(*fields), stream, error)

    def context(self):
        from sage_doctor_attention import abi, contexts, runtime

        with unittest.mock.patch.object(runtime, "api", lambda: abi.API_HIP):
            return contexts.Context(contexts._from_folder(None), None, 0.0)


@contextlib.contextmanager
def on_cpu(library=None, context=Context):
    """The package with the stand-in below it and CPU tensors taken for a GPU's. Yields the Library."""
    from sage_doctor_attention import arguments, contexts, launch, plan

    library = library or Library()
    patches = [
        unittest.mock.patch.object(arguments, "is_on_gpu", lambda tensor: True),
        unittest.mock.patch.object(contexts, "_make", lambda index: context()),
        unittest.mock.patch.object(plan, "library", lambda: library),
        unittest.mock.patch.object(launch, "_launch", lambda *given: library.sage_attention_launch(*given)),
        unittest.mock.patch.object(launch, "_raw_stream", lambda index: 77),
        unittest.mock.patch.object(launch, "_current_device", lambda: None),
    ]
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        stack.callback(launch._plans.clear)
        stack.callback(contexts._contexts.clear)
        launch._plans.clear()
        contexts._contexts.clear()
        yield library
