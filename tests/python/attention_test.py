"""The functions of the package on the stand-in library: what is handed over, what is refused, what is counted."""

import contextlib
import os
import subprocess
import sys
import threading
import unittest
import unittest.mock
import warnings

import standin
from standin import torch

if torch is not None:
    import sage_doctor_attention as sage
    from sage_doctor_attention import abi, contexts, fallback, launch, varlen

HAS_SDPA = torch is not None and hasattr(torch.nn.functional, "scaled_dot_product_attention")


def randn(*shape, dtype=None, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype or torch.float16)


def qkv(heads=4, kv_heads=2, tokens=50, kv_tokens=70, dim=64, batch=2, dtype=None):
    kv = (batch, kv_heads, kv_tokens, dim)
    return (randn(batch, heads, tokens, dim, dtype=dtype, seed=1), randn(*kv, dtype=dtype, seed=2),
            randn(*kv, dtype=dtype, seed=3))


@unittest.skipIf(torch is None, standin.WHY_NO_TORCH)
class Case(unittest.TestCase):
    def setUp(self):
        sage.reset_statistics()
        self.library = self.enterContext(standin.on_cpu())

    def enterContext(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def assertClose(self, out, reference, tolerance=4e-3):
        self.assertEqual(out.shape, reference.shape)
        self.assertLess((out.float() - reference.float()).abs().max().item(), tolerance)


class HandedOver(Case):
    def test_layouts_types_and_the_lse(self):
        for dtype in (torch.float16, torch.bfloat16):
            q, k, v = qkv(dtype=dtype)
            for causal in (False, True):
                reference, reference_lse = standin.attention(q, k, v, causal, 0.125)
                out, lse = sage.sageattn(q, k, v, is_causal=causal, return_lse=True)
                self.assertClose(out, reference, 2e-2)
                self.assertClose(lse, reference_lse)
                swapped = [t.transpose(1, 2).contiguous() for t in (q, k, v)]
                out, lse = sage.sageattn(*swapped, "NHD", causal, return_lse=True)
                self.assertEqual(out.dtype, dtype)
                self.assertClose(out.transpose(1, 2), reference, 2e-2)
                self.assertClose(lse, reference_lse)

    def test_the_fields_of_the_problem(self):
        q, k, v = qkv()
        sage.sageattn(q, k, v)
        sage.sageattn_qk_int8_pv_fp8(q, k, v, "HND", True, 0.3, False)
        plain, other = self.library.launches
        for one in (plain, other):
            self.assertEqual((one.size, one.version, one.reserved), (abi.PROBLEM_BYTES, 1, 0))
            self.assertEqual((one.batch, one.q_heads, one.kv_heads, one.q_len, one.kv_len, one.head_dim), (2, 4, 2, 50, 70, 64))
            self.assertEqual(one.buffers[:2], (abi.BUFFERS_BYTES, 1))
            self.assertEqual(one.buffers[8], 1024)
            self.assertEqual(one.stream, 77)
        self.assertEqual((plain.pv_type, plain.mask, plain.flags), (abi.PV_F16, 0, abi.FLAG_SMOOTH_K))
        self.assertAlmostEqual(plain.sm_scale, 0.125)
        self.assertEqual((other.pv_type, other.mask, other.flags), (abi.PV_FP8, abi.MASK_CAUSAL_TOP_LEFT, 0))
        self.assertAlmostEqual(other.sm_scale, 0.3, places=6)

    def test_strides_are_handed_over_and_nothing_is_copied(self):
        fused = randn(2, 50, 3, 4, 64)
        q, k, v = (t.transpose(1, 2) for t in fused.unbind(2))
        out = sage.sageattn(q, k, v)
        self.assertClose(out, standin.attention(q, k, v, False, 0.125)[0])
        done = self.library.launches[0]
        self.assertEqual(done.buffers[2:5], tuple(t.data_ptr() for t in (q, k, v)))
        self.assertEqual(done.strides[0], (50 * 3 * 4 * 64, 64, 3 * 4 * 64, 1))
        # Like q the output is token-major, dense: what follows needs no copy.
        self.assertTrue(out.transpose(1, 2).is_contiguous())
        self.assertTrue(sage.sageattn(q.contiguous(), k, v).is_contiguous())
        columns = randn(1, 2, 64, 30).transpose(2, 3)
        self.assertClose(sage.sageattn(columns, columns, columns), standin.attention(columns, columns, columns, False, 0.125)[0])
        repeated = randn(1, 2, 30, 64).expand(3, -1, -1, -1)
        self.assertClose(sage.sageattn(repeated, repeated, repeated), standin.attention(repeated, repeated, repeated, False, 0.125)[0])

    def test_the_lse_is_asked_for_only_when_wanted(self):
        q, k, v = qkv()
        sage.sageattn(q, k, v)
        sage.sageattn(q, k, v, return_lse=True)
        self.assertEqual([bool(one.buffers[6]) for one in self.library.launches], [False, True])
        self.assertEqual([one.flags & abi.FLAG_LSE for one in self.library.launches], [0, 2])

    def test_names_and_positions_of_upstream(self):
        q, k, v = qkv()
        sage.sageattn_qk_int8_pv_fp16_triton(q, k, v, "HND", "triton", True, None, 0.2, False, True)
        sage.sageattn_qk_int8_pv_fp16_cuda(q, k, v, "HND", True, "per_warp", 0.2, "fp16+fp32", False, False, True)
        sage.sageattn_qk_int8_pv_fp8_cuda(q, k, v, "HND", True, "per_thread", 0.2, "fp32+fp16", False, False, True)
        sage.sageattn_qk_int8_pv_fp8_cuda_sm90(q, k, v, "HND", True, "per_warp", 0.2, "fp32+fp32", False, True)
        sage.sageattn_qk_int8_pv_fp16(q, k, v, "HND", True, 0.2, False, True)
        for one, pv in zip(self.library.launches, (0, 0, 1, 1, 0)):
            self.assertEqual((one.pv_type, one.mask, one.flags), (pv, 2, abi.FLAG_LSE))
            self.assertAlmostEqual(one.sm_scale, 0.2, places=6)

    def test_what_upstream_ignores_is_said(self):
        q, k, v = qkv()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sage.sageattn_qk_int8_pv_fp16_cuda(q, k, v, smooth_v=True)
        self.assertEqual([w.category for w in caught], [UserWarning])
        for bad in (dict(qk_quant_gran="per_block"), dict(pv_accum_dtype="fp8")):
            with self.assertRaises(sage.ArgumentError):
                sage.sageattn_qk_int8_pv_fp16_cuda(q, k, v, **bad)
        with self.assertRaises(sage.ArgumentError):
            sage.sageattn_qk_int8_pv_fp8_cuda(q, k, v, pv_accum_dtype="fp16")

    def test_packed_sequences(self):
        q, k, v = randn(50, 4, 64), randn(70, 2, 64, seed=1), randn(70, 2, 64, seed=2)
        q_at, k_at = [0, 20, 20, 30, 50], [0, 30, 40, 40, 70]
        for where in (list, torch.tensor):
            out = sage.sageattn_varlen(q, k, v, where(q_at), where(k_at), 20, 30, is_causal=True)
            for i in (0, 3):
                a, b = slice(q_at[i], q_at[i + 1]), slice(k_at[i], k_at[i + 1])
                parts = [t[None].transpose(1, 2) for t in (q[a], k[b], v[b])]
                self.assertClose(out[a][None].transpose(1, 2), standin.attention(*parts, True, 0.125)[0])
            self.assertEqual(out[20:30].abs().max().item(), 0)
            written = [launch.buffers[5] - out.data_ptr() for launch in self.library.launches[-2:]]
            self.assertEqual(sorted(written), [0, 30 * 4 * 64 * 2])  # in place
        self.assertEqual(len(self.library.launches), 4)
        other = q.transpose(0, 1).contiguous().transpose(0, 1)  # heads before tokens in memory
        self.assertTrue(torch.equal(sage.sageattn_varlen(other, k, v, q_at, k_at, is_causal=True), out))
        for bad in ([0, 20], [1, 50], [0, 40, 30, 50], [50]):
            with self.assertRaises(sage.ArgumentError):
                sage.sageattn_varlen(q, k, v, bad, [0, 70])
        with self.assertRaises(sage.ArgumentError):
            sage.sageattn_varlen(q, k, v, [0, 50], [0, 30, 70])
        with self.assertRaises(sage.ArgumentError):
            sage.sageattn_varlen(q, k, v, [0, 50], [0, 70], 49, 70)

    def test_packed_sequences_alternate_between_two_streams(self):
        said = []

        class Stream:
            def __init__(self, name):
                self.name = name

            def wait_stream(self, other):
                said.append(f"{self.name} waits for {other.name}")

        here, beside = Stream("here"), Stream("beside")
        current = [here]

        @contextlib.contextmanager
        def on(stream):
            current.append(stream)
            try:
                yield
            finally:
                current.pop()

        def call(name, error=None):
            def enqueue():
                said.append(f"{name} on {current[-1].name}")
                if error is not None:
                    raise error

            return enqueue

        made = []

        def make(device):
            made.append(device)
            return beside

        varlen._forget()
        self.addCleanup(varlen._forget)
        streams = unittest.mock.Mock(current_stream=lambda device: here, Stream=make, stream=on)
        with unittest.mock.patch.object(varlen.torch, "cuda", streams):
            varlen._side_by_side([call("a"), call("b"), call("c")], torch.device("cuda", 0))
            self.assertEqual(said, ["beside waits for here", "a on here", "b on beside", "c on here", "here waits for beside"])
            said.clear()
            with self.assertRaises(ValueError):
                varlen._side_by_side([call("a"), call("b", ValueError())], torch.device("cuda", 0))
            self.assertEqual(said[-1], "here waits for beside")
            said.clear()
            varlen._side_by_side([call("a")], torch.device("cuda", 0))
            self.assertEqual(said, ["a on here"])
        self.assertEqual(len(made), 1)  # the allocator would keep memory for every other one

    def test_threads_share_plans_and_nothing_else(self):
        inputs = [[t + i for t in qkv()] for i in range(6)]
        wrong = []

        def work(three):
            reference = standin.attention(*three, False, 0.125)[0]
            for _ in range(30):
                if (sage.sageattn(*three).float() - reference).abs().max() > 2e-2:
                    wrong.append(three)

        threads = [threading.Thread(target=work, args=(three,)) for three in inputs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(launch._plans), 1)
        self.assertEqual(sage.statistics()["launched"], 180)

    def test_plans_do_not_pile_up(self):
        q, k, v = qkv()
        with unittest.mock.patch.object(launch, "_MOST_PLANS", 8):
            for i in range(20):
                sage.sageattn(q, k, v, sm_scale=1.0 + i)
                self.assertLessEqual(len(launch._plans), 8)


class Refused(Case):
    def test_each_bad_input_has_an_exception_of_its_own(self):
        q, k, v = qkv(kv_tokens=50)
        one = randn(1)
        rows = [
            (sage.ArgumentError, "same GPU", (q, k.to("meta"), v), {}),
            (sage.ArgumentError, "same type", (q, k.bfloat16(), v), {}),
            (sage.ArgumentError, "q has no elements", (q[:, :, :0], k, v), {}),
            (sage.ArgumentError, "k has no elements", (q, k[:, :, :0], v[:, :, :0]), {}),
            (sage.ArgumentError, "no multiple", (q[:, :3], k, v), {}),
            (sage.ArgumentError, "3 dimensions", (q[0], k, v), {}),
            (sage.ArgumentError, "batch", (q, k[:1], v[:1]), {}),
            (sage.ArgumentError, "same heads and tokens", (q, k, v[:, :, :40]), {}),
            (sage.ArgumentError, "head_dim of q", (q, k[..., :32], v), {}),
            (sage.ArgumentError, "tensor_layout", (q, k, v), dict(tensor_layout="BHND")),
            (sage.ArgumentError, "pv is", (q, k, v), dict(pv="int8")),
            (sage.ArgumentError, "must be tensors", ([1], k, v), {}),
            (sage.UnsupportedError, "float32", (q.float(), k.float(), v.float()), {}),
            (sage.UnsupportedError, "at most 256", [one.expand(1, 1, 4, 300)] * 3, {}),
            (sage.UnsupportedError, "head_dim of v", (q, k, v[..., :32]), {}),
            (sage.UnsupportedError, "4294967296 elements", [one.expand(1, 2**14, 2**12, 64)] * 3, {}),
            (sage.UnsupportedError, "keys; at most", (one.expand(1, 1, 1, 1), *[one.expand(1, 1, 2**22 + 1, 1)] * 2), {}),
            (sage.UnsupportedError, "attn_mask", (q, k, v), dict(attn_mask=one)),
            (sage.UnsupportedError, "dropout", (q, k, v), dict(dropout_p=0.1)),
            (sage.UnsupportedError, "no backward pass", (q.clone().requires_grad_(), k, v), {}),
            (sage.UnsupportedError, "no backward pass", (q, k, v.clone().requires_grad_()), {}),
            (TypeError, "scale", (q, k, v), dict(scale=1.0)),
        ]
        for kind, text, three, options in rows:
            with self.assertRaisesRegex(kind, text):
                sage.sageattn(*three, **options)
        self.assertEqual(self.library.launches, [])
        self.assertEqual(sage.statistics(), {"launched": 0, "fallback": {}})

    def test_gradients_are_refused_only_where_they_are_recorded(self):
        q, k, v = qkv()
        q.requires_grad_()
        with torch.no_grad():
            sage.sageattn(q, k, v)
        with torch.inference_mode():
            sage.sageattn(q, k, v)
        self.assertEqual(len(self.library.launches), 2)

    def test_tensors_on_the_cpu(self):
        q, k, v = qkv()
        with unittest.mock.patch("sage_doctor_attention.arguments.is_on_gpu", lambda tensor: tensor.is_cuda):
            with self.assertRaisesRegex(sage.ArgumentError, "on cpu; they must be on a GPU"):
                sage.sageattn(q, k, v)

    def test_what_the_library_says(self):
        q, k, v = qkv()
        self.library.text = b"the reason"
        self.library.answers["workspace"] = abi.E_PV_UNAVAILABLE
        with self.assertRaisesRegex(sage.UnsupportedError, "gfx1201: the reason"):
            sage.sageattn(q, k, v, pv="fp8")
        self.library.answers["workspace"] = 34
        with self.assertRaisesRegex(sage.LibraryError, "the reason") as caught:
            sage.sageattn(q, k, v)
        self.assertEqual(caught.exception.status, 34)
        self.library.answers = {"launch": 106}
        with self.assertRaisesRegex(sage.LibraryError, "the reason"):
            sage.sageattn(q, k, v)
        self.library.answers = {}
        sage.sageattn(q, k, v)
        self.assertEqual(sage.statistics()["launched"], 1)

    def test_a_thread_without_a_context_gets_one_and_tries_again(self):
        q, k, v = qkv()
        statuses = iter([abi.E_NO_DEVICE, 0])
        self.library.answers["launch"] = lambda: next(statuses)
        made = []
        with unittest.mock.patch("sage_doctor_attention.runtime.make_current", lambda *given: made.append(given)), \
                unittest.mock.patch("sage_doctor_attention.runtime.HIP", None):
            sage.sageattn(q, k, v)
        self.assertEqual(made, [(None, "/stand-in/libamdhip64.so")])
        self.assertEqual(len(self.library.launches), 1)

    def test_after_fork(self):
        q, k, v = qkv()
        sage.sageattn(q, k, v)
        contexts._after_fork()
        self.addCleanup(setattr, contexts, "_forked", False)
        self.assertEqual(launch._plans, {})
        with unittest.mock.patch("sage_doctor_attention.contexts._make", MAKE):
            with self.assertRaisesRegex(sage.LibraryError, "forked"):
                sage.sageattn(q, k, v)


MAKE = contexts._make if torch is not None else None


@unittest.skipUnless(HAS_SDPA, "this PyTorch has no scaled_dot_product_attention (before 2.0), or there is none")
class FallsBack(Case):
    def test_to_torch_and_counts(self):
        q, k, v = qkv()
        mask = torch.rand(50, 70, generator=torch.Generator().manual_seed(4)) > 0.3
        mask[:, 0] = True
        repeated = [t.repeat_interleave(2, 1) for t in (k, v)]
        reference = fallback.original()(q, *repeated, attn_mask=mask, scale=0.2)
        self.assertClose(sage.sageattn(q, k, v, sm_scale=0.2, attn_mask=mask, fallback="sdpa"), reference)
        swapped = [t.transpose(1, 2) for t in (q, k, v)]
        out = sage.sageattn(*swapped, "NHD", sm_scale=0.2, attn_mask=mask, fallback="sdpa")
        self.assertClose(out.transpose(1, 2), reference)
        leaf = q.float().requires_grad_()
        sage.sageattn(leaf, k.float(), v.float(), fallback="sdpa").sum().backward()
        self.assertIsNotNone(leaf.grad)
        self.assertEqual(sage.statistics(), {"launched": 0, "fallback": {"mask": 2, "gradient": 1}})

    def test_never_for_calls_that_mean_nothing(self):
        q, k, v = qkv()
        with self.assertRaises(sage.ArgumentError):
            sage.sageattn(q, k, v[:, :, :10], fallback="sdpa")
        with self.assertRaisesRegex(sage.ArgumentError, "fallback is"):
            sage.sageattn(q, k, v, attn_mask=q, fallback="flash")
        with self.assertRaisesRegex(sage.ArgumentError, "LSE"):
            sage.sageattn(q, k, v, attn_mask=torch.ones(50, 70, dtype=torch.bool), return_lse=True, fallback="sdpa")

    def run_with(self, program, **environment):
        start = "import standin, torch, sage_doctor_attention as s\nq = torch.randn(1, 2, 9, 64).half()\n"
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", start + program], capture_output=True, text=True,
                              cwd=os.path.dirname(os.path.abspath(__file__)), env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_the_switch(self):
        program = "s.sageattn(q, q, q)\nprint(s.install(), s.statistics())"
        self.assertEqual(self.run_with(program, SAGE_ATTENTION="0"), "False {'launched': 0, 'fallback': {'switched off': 1}}")

    def test_the_environments_fallback(self):
        program = ("with standin.on_cpu():\n    s.sageattn(q, q, q, dropout_p=0.5)\n    print(s.statistics())")
        self.assertEqual(self.run_with(program, SAGE_ATTENTION_FALLBACK="sdpa"), "{'launched': 0, 'fallback': {'dropout': 1}}")


@unittest.skipIf(torch is None, standin.WHY_NO_TORCH)
class NoGpu(unittest.TestCase):
    """This machine's own torch, which has no GPU."""

    def test_one_clear_error(self):
        if torch.cuda.is_available():
            self.skipTest("this machine has a GPU")
        for call in (sage.warmup, sage.install):
            with self.assertRaisesRegex(sage.LibraryError, "build for the CPU|sees no GPU"):
                call()
        q, k, v = qkv()
        with self.assertRaisesRegex(sage.ArgumentError, "on cpu; they must be on a GPU, and this PyTorch"):
            sage.sageattn(q, k, v)
        self.assertFalse(sage.self_test([(1, 1, 8, 64)], verbose=False))


@unittest.skipIf(torch is None, standin.WHY_NO_TORCH)
@unittest.skipUnless("SAGE_TEST_HIP" in os.environ, "SAGE_TEST_HIP is not set (ctest sets it)")
class OnEmulatedLanes(unittest.TestCase):
    """From sageattn() through the real library to kernels, on emulated lanes of gfx1201."""

    def test_against_torch(self):
        import tempfile
        with tempfile.TemporaryDirectory() as home:
            os.mkdir(f"{home}/lib")
            os.symlink(os.environ["SAGE_TEST_LIBRARY"], f"{home}/lib/libsage_attention.so.1")
            os.symlink(os.path.join(os.environ["SAGE_TEST_OBJECTS"], "bundle"), f"{home}/kernels")
            with unittest.mock.patch.dict(os.environ, {"SAGE_ATTENTION_HOME": home}):
                emulated = standin.Emulated()
                with standin.on_cpu(emulated, emulated.context):
                    self.compare()

    def compare(self):
        rows = [
            (qkv(), {}, 0.012), (qkv(dim=128, tokens=20), dict(is_causal=True), 0.012), (qkv(dim=40, batch=1), {}, 0.012),
            (qkv(batch=1, dtype=torch.bfloat16), {}, 0.015), (qkv(batch=1), dict(pv="fp8", sm_scale=0.2), 0.042),
        ]
        for three, options, limit in rows:
            reference, reference_lse = standin.attention(
                *three, options.get("is_causal", False), options.get("sm_scale", three[0].shape[3] ** -0.5))
            for nhd in (False, True):
                given = [t.transpose(1, 2) for t in three] if nhd else three
                out, lse = sage.sageattn(*given, "NHD" if nhd else "HND", return_lse=True, **options)
                out = out.transpose(1, 2) if nhd else out
                difference = (out.float() - reference).abs().sum() / reference.abs().sum()
                self.assertLess(difference.item(), limit, (options, nhd))
                self.assertLess((lse - reference_lse).abs().max().item(), 3e-2)


if __name__ == "__main__":
    standin.main()
