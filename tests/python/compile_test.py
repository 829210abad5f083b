"""What torch.compile, fake tensors and tracing see, on the stand-in library. The operators get a CPU implementation here."""

import unittest

import standin
from standin import torch

CAN = torch is not None and hasattr(torch, "compile") and hasattr(torch.library, "register_fake")
if CAN:
    import torch.nn.functional as F

    import sage_doctor_attention as sage
    from sage_doctor_attention import operators, varlen

    for name, function in (("attention", operators._attention), ("attention_lse", operators._attention_lse),
                           ("varlen", varlen._real)):
        operators._library.impl(name, function, "CPU")
WHY = standin.WHY_NO_TORCH or "this PyTorch has no torch.library.register_fake (before 2.4)"


def half(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).half()


@unittest.skipUnless(CAN, WHY)
class Compile(unittest.TestCase):
    def setUp(self):
        sage.reset_statistics()
        torch._dynamo.reset()
        entered = standin.on_cpu()
        self.library = entered.__enter__()
        self.addCleanup(entered.__exit__, None, None, None)

    def compiled(self, function, **options):
        return torch.compile(function, fullgraph=True, backend="aot_eager", **options)

    def test_one_graph_with_the_same_result(self):
        q, k, v = half(2, 4, 50, 64), half(2, 2, 70, 64), half(2, 2, 70, 64)

        def block(q, k, v):
            out, lse = sage.sageattn(q * 1.5, k, v, is_causal=True, return_lse=True)
            return sage.sageattn(out, k, v, pv="fp8") + 1, lse

        for got, wanted in zip(self.compiled(block)(q, k, v), block(q, k, v)):
            self.assertTrue(torch.equal(got, wanted))
        self.assertEqual(sage.statistics()["launched"], 4)

    def test_lengths_that_change_do_not_compile_again(self):
        def block(x):
            q, k, v = (t.transpose(1, 2) for t in x.unbind(2))
            return sage.sageattn(q, k, v).transpose(1, 2).flatten(2)

        compiled = self.compiled(block, dynamic=True)
        compiled(half(2, 30, 3, 4, 64))
        with torch._dynamo.config.patch(error_on_recompile=True):
            for tokens in (41, 52):
                x = half(2, tokens, 3, 4, 64)
                self.assertTrue(torch.equal(compiled(x), block(x)))

    def test_the_fallback_is_part_of_the_graph(self):
        q = half(1, 2, 30, 64)
        mask = torch.ones(30, 30, dtype=torch.bool)
        out = self.compiled(lambda q: sage.sageattn(q, q, q, attn_mask=mask, fallback="sdpa"))(q)
        self.assertEqual(out.shape, q.shape)
        self.assertEqual(self.library.launches, [])

    def test_errors_are_errors_while_tracing_too(self):
        q = half(1, 2, 30, 64)
        with self.assertRaises(torch._dynamo.exc.Unsupported):
            self.compiled(lambda q: sage.sageattn(q, q[..., :32], q))(q)
        with self.assertRaises(sage.ArgumentError):
            torch.compile(lambda q: sage.sageattn(q, q[..., :32], q), backend="eager")(q)

    def test_installed(self):
        q = half(1, 2, 1100, 64)
        mask = torch.ones(1100, 1100, dtype=torch.bool)
        with torch.no_grad(), sage.installed():
            self.compiled(lambda q: F.scaled_dot_product_attention(q, q, q))(q)
            self.assertEqual(sage.statistics()["launched"], 1)
            self.compiled(lambda q: F.scaled_dot_product_attention(q, q, q, attn_mask=mask))(q)
            self.assertEqual(sage.statistics()["launched"], 1)

    def test_packed_sequences(self):
        q, where = half(30, 4, 64), torch.tensor([0, 10, 30])
        compiled = self.compiled(lambda q, w: sage.sageattn_varlen(q, q, q, w, w) + 0)
        self.assertTrue(torch.equal(compiled(q, where), sage.sageattn_varlen(q, q, q, where, where)))

    def test_operators_are_what_they_say(self):
        q = half(1, 2, 30, 64)
        for by_token in (False, True):
            for operator in (operators.attention, operators.attention_lse):
                torch.library.opcheck(operator, (q, q, q, False, True, None, True, False, by_token))
        where = torch.tensor([0, 10, 30])
        packed = half(30, 2, 64)
        torch.library.opcheck(varlen._varlen, (packed, packed, packed, where, where, False, 0.3, True))

    def test_fake_tensors_launch_nothing(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            q = torch.empty(2, 30, 4, 64, dtype=torch.bfloat16)
            out, lse = sage.sageattn(q, q, q, "NHD", return_lse=True)
        self.assertEqual((tuple(out.shape), tuple(lse.shape)), ((2, 30, 4, 64), (2, 4, 30)))
        self.assertEqual((out.dtype, lse.dtype), (torch.bfloat16, torch.float32))
        self.assertEqual(self.library.launches, [])

    def test_a_dispatch_mode_sees_the_operator(self):
        from torch.utils._python_dispatch import TorchDispatchMode

        seen = []

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                seen.append(str(function))
                return function(*args, **(kwargs or {}))

        q = half(1, 2, 30, 64)
        with Watch():
            sage.sageattn(q, q, q)
        self.assertIn("sage_doctor_attention.attention.default", seen)

    def test_a_traced_function_calls_it_anew(self):
        q = half(1, 2, 30, 64)
        traced = torch.jit.trace(lambda q: sage.sageattn(q, q, q), (q,), check_trace=False)
        before = len(self.library.launches)
        self.assertTrue(torch.equal(traced(q * 2), sage.sageattn(q * 2, q * 2, q * 2)))
        self.assertEqual(len(self.library.launches) - before, 2)


if __name__ == "__main__":
    standin.main()
