"""The same as operators of torch: what torch.compile, torch.export, fake tensors and tracing see of it.

sage_doctor_attention::attention        -> out
sage_doctor_attention::attention_lse    -> (out, lse)
sage_doctor_attention::varlen           -> out (varlen.py)

Calls outside of all that go to launch.run() directly: the way through the dispatcher costs more than the launch.
"""

import torch

from . import launch, plan

_ARGUMENTS = "(Tensor q, Tensor k, Tensor v, bool nhd, bool is_causal, float? sm_scale, bool smooth_k, bool fp8, bool by_token)"


def _tags():
    """Inputs must arrive with the strides that the fake implementation saw; where that is known, nothing is copied."""
    exact = "needs_exact_strides" if hasattr(torch.Tag, "needs_exact_strides") else "needs_fixed_stride_order"
    return tuple(getattr(torch.Tag, name) for name in ("pt2_compliant_tag", exact) if hasattr(torch.Tag, name))


_TAGS = _tags() if hasattr(torch, "Tag") else ()
_library = torch.library.Library("sage_doctor_attention", "DEF")


def _attention(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, by_token):
    return launch.run(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, False, by_token)[0]


def _attention_lse(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, by_token):
    return launch.run(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, True, by_token)


def _fake_attention(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, by_token):
    return q.new_empty_strided(q.shape, plan.out_strides(q.shape, nhd, by_token))


def _fake_attention_lse(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, by_token):
    batch, heads, tokens = (q.shape[0], q.shape[2], q.shape[1]) if nhd else q.shape[:3]
    lse = q.new_empty((batch, heads, tokens), dtype=torch.float32)
    return _fake_attention(q, k, v, nhd, is_causal, sm_scale, smooth_k, fp8, by_token), lse


def define(name, signature, real, fake):
    """Defines sage_doctor_attention::name and returns it. real runs on the GPU, fake makes empty tensors like real's."""
    if _TAGS:
        _library.define(name + signature, tags=_TAGS)
    else:
        _library.define(name + signature)
    _library.impl(name, real, "CUDA")
    if hasattr(torch.library, "register_fake"):
        torch.library.register_fake(f"sage_doctor_attention::{name}", fake, lib=_library)
    else:
        _library.impl(name, fake, "Meta")
    packet = getattr(torch.ops.sage_doctor_attention, name)
    return getattr(packet, "default", packet)


attention = define("attention", _ARGUMENTS + " -> Tensor", _attention, _fake_attention)
attention_lse = define("attention_lse", _ARGUMENTS + " -> (Tensor, Tensor)", _attention_lse, _fake_attention_lse)
