"""The C interface of kernels/include/sage/attention.h, version 1, for ctypes. tests/python compares it with the header."""

import ctypes
import struct

VERSION = 1

OK = 0
E_OPTION = 8
E_HEAD_DIM = 26
E_PV_UNAVAILABLE = 29
E_NO_KERNEL = 86
E_NO_RUNTIME = 100
E_NO_DEVICE = 103
E_WRONG_DEVICE = 105

API_HIP = 1
API_CUDA = 2

IO_F16 = 0
IO_BF16 = 1

PV_F16 = 0
PV_FP8 = 1

MASK_NONE = 0
MASK_CAUSAL_TOP_LEFT = 2

FLAG_SMOOTH_K = 1
FLAG_LSE = 2

MAX_Q_LEN = 1 << 30
MAX_KV_LEN = 1 << 22
MAX_HEAD_DIM = 256


class Error(ctypes.Structure):
    """sage_error"""

    _fields_ = [("status", ctypes.c_int32), ("driver_code", ctypes.c_int32), ("text", ctypes.c_char * 504)]


class ContextOptions(ctypes.Structure):
    """sage_context_options"""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("api", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("runtime_path", ctypes.c_char_p),
    ]


class ContextInfo(ctypes.Structure):
    """sage_context_info"""

    _fields_ = [
        ("target", ctypes.c_char_p),
        ("runtime_path", ctypes.c_char_p),
        ("api", ctypes.c_uint32),
        ("device", ctypes.c_int32),
        ("kernel_count", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


# The two structures of a launch are handed over as bytes: immutable, so that threads may share them, and made by one
# call, where a ctypes structure costs one for each field.
_problem = struct.Struct("@IIiiiiiiIIIIfI16q")
_buffers = struct.Struct("@IIPPPPPPQ")

PROBLEM_BYTES = _problem.size
BUFFERS_BYTES = _buffers.size


def problem(batch, q_heads, kv_heads, q_len, kv_len, head_dim, io_type, pv_type, mask, flags, sm_scale, strides):
    """sage_attention_problem; strides: q, k, v and out, each (batch, head, token, dim) in elements."""
    flat = [stride for tensor in strides for stride in tensor]
    return _problem.pack(
        _problem.size, VERSION, batch, q_heads, kv_heads, q_len, kv_len, head_dim, io_type, pv_type, mask, flags,
        sm_scale, 0, *flat)


def buffers(q, k, v, out, lse, workspace, workspace_bytes, pack=_buffers.pack, size=_buffers.size):
    """sage_attention_buffers of addresses on the GPU; 0 is NULL."""
    return pack(size, VERSION, q, k, v, out, lse, workspace, workspace_bytes)


PROTOTYPES = {
    "sage_status_text": (ctypes.c_char_p, [ctypes.c_int32]),
    "sage_attention_version": (ctypes.c_uint32, []),
    "sage_context_from_folder": (
        ctypes.c_int32,
        [ctypes.c_char_p, ctypes.POINTER(ContextOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Error)],
    ),
    "sage_context_destroy": (None, [ctypes.c_void_p]),
    "sage_context_describe": (
        ctypes.c_int32,
        [ctypes.c_void_p, ctypes.POINTER(ContextInfo), ctypes.POINTER(Error)],
    ),
    "sage_context_gpu_name": (ctypes.c_char_p, [ctypes.c_void_p]),
    "sage_context_tuning": (ctypes.c_char_p, [ctypes.c_void_p]),
    "sage_attention_workspace": (
        ctypes.c_int32,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(Error)],
    ),
    "sage_attention_kernel": (
        ctypes.c_int32,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(Error)],
    ),
    "sage_attention_launch": (
        ctypes.c_int32,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(Error)],
    ),
}
