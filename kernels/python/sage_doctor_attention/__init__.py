"""Quantised attention for PyTorch, with kernels built by `sage-doctor build --install`.

    from sage_doctor_attention import sageattn
    out = sageattn(q, k, v)                    # instead of SageAttention

    import sage_doctor_attention
    sage_doctor_attention.install()            # instead of torch's scaled_dot_product_attention

docs/python.md has the rest. Importing this loads neither the library nor anything of the GPU; the first call does.
"""

from .alias import install_alias, remove_alias
from .attention import (
    sageattn,
    sageattn_qk_int8_pv_fp8,
    sageattn_qk_int8_pv_fp8_cuda,
    sageattn_qk_int8_pv_fp8_cuda_sm90,
    sageattn_qk_int8_pv_fp16,
    sageattn_qk_int8_pv_fp16_cuda,
    sageattn_qk_int8_pv_fp16_triton,
)
from .errors import ArgumentError, LibraryError, SageAttentionError, UnsupportedError
from .merge import merge_partials
from .paths import kernels_folder, library_path
from .replacement import Rules, install, installed, is_installed, uninstall
from .counts import reset_statistics, statistics
from .trial import self_test, warmup
from .varlen import sageattn_varlen

__all__ = [
    "ArgumentError",
    "LibraryError",
    "Rules",
    "SageAttentionError",
    "UnsupportedError",
    "install",
    "install_alias",
    "installed",
    "is_installed",
    "kernels_folder",
    "library_path",
    "merge_partials",
    "remove_alias",
    "reset_statistics",
    "sageattn",
    "sageattn_qk_int8_pv_fp16",
    "sageattn_qk_int8_pv_fp16_cuda",
    "sageattn_qk_int8_pv_fp16_triton",
    "sageattn_qk_int8_pv_fp8",
    "sageattn_qk_int8_pv_fp8_cuda",
    "sageattn_qk_int8_pv_fp8_cuda_sm90",
    "sageattn_varlen",
    "self_test",
    "statistics",
    "uninstall",
    "warmup",
]
