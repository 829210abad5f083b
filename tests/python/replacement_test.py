"""install(): which calls of torch.nn.functional.scaled_dot_product_attention are taken, and what is said of the others."""

import unittest

import standin
from standin import torch

HAS_SDPA = torch is not None and hasattr(torch.nn.functional, "scaled_dot_product_attention")
if HAS_SDPA:
    import torch.nn.functional as F

    import sage_doctor_attention as sage
    from sage_doctor_attention import replacement

    ORIGINAL = F.scaled_dot_product_attention
WHY = standin.WHY_NO_TORCH or "this PyTorch has no scaled_dot_product_attention (before 2.0)"


def qkv(tokens=1024, dim=64, heads=2, kv_heads=None, dtype=None):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(1, h, tokens, dim, generator=generator).to(dtype or torch.float16)
            for h in (heads, kv_heads or heads, kv_heads or heads)]


@unittest.skipUnless(HAS_SDPA, WHY)
class Replacement(unittest.TestCase):
    def setUp(self):
        sage.reset_statistics()
        entered = standin.on_cpu()
        self.library = entered.__enter__()
        self.addCleanup(entered.__exit__, None, None, None)
        self.addCleanup(lambda: sage.is_installed() and sage.uninstall())

    def test_taken(self):
        q, k, v = qkv()
        reference = ORIGINAL(q, k, v, is_causal=True, scale=0.2)
        with sage.installed() as done:
            self.assertTrue(done)
            self.assertTrue(sage.is_installed())
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.2)
        self.assertLess((out.float() - reference.float()).abs().max().item(), 4e-3)
        self.assertIs(F.scaled_dot_product_attention, ORIGINAL)
        self.assertEqual(sage.statistics(), {"launched": 1, "fallback": {}})

    def test_every_reason_not_to(self):
        q, k, v = qkv()
        rows = [
            ("mask", (q, k, v), dict(attn_mask=torch.ones(1024, 1024, dtype=torch.bool))),
            ("dropout", (q, k, v), dict(dropout_p=0.1)),
            ("layout", (q[0], k[0], v[0]), {}),
            ("dtype", [t.float() for t in (q, k, v)], {}),
            ("gradient", (q.clone().requires_grad_(), k, v), {}),
            ("head_dim", qkv(dim=32), {}),
            ("head_dim", (q, k, v[..., :40]), {}),
            ("length", qkv(tokens=1023), {}),
            ("length", (q[:, :, :63], k, v), {}),
        ]
        expected = {}
        with sage.installed():
            for reason, three, options in rows:
                F.scaled_dot_product_attention(*three, **options)
                expected[reason] = expected.get(reason, 0) + 1
                self.assertEqual(sage.statistics(), {"launched": 0, "fallback": expected})
            # What torch would compute it still computes; what torch refuses it still refuses, with its own words.
            with self.assertRaises(RuntimeError):
                F.scaled_dot_product_attention(*qkv(heads=4, kv_heads=2))
            self.assertEqual(sage.statistics()["fallback"]["heads"], 1)

    def test_subclasses_are_left_to_themselves(self):
        class Mine(torch.Tensor):
            pass

        q, k, v = qkv()
        with sage.installed():
            F.scaled_dot_product_attention(q.as_subclass(Mine), k, v)
        self.assertEqual(sage.statistics(), {"launched": 0, "fallback": {"tensor class": 1}})

    def test_grouped_heads_only_where_torch_allows_them(self):
        q, k, v = qkv(heads=4, kv_heads=2)
        with sage.installed():
            out = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        reference = standin.attention(q, k, v, False, 0.125)[0]
        self.assertLess((out.float() - reference).abs().max().item(), 4e-3)
        self.assertEqual(self.library.launches[0].kv_heads, 2)

    def test_rules_can_be_chosen(self):
        with sage.installed(min_kv_len=16, min_q_len=1, min_head_dim=16, max_head_dim=64, pv="fp8", smooth_k=False,
                            dtypes=(torch.bfloat16,)):
            F.scaled_dot_product_attention(*qkv(tokens=20, dim=32, dtype=torch.bfloat16))
            F.scaled_dot_product_attention(*qkv(tokens=20, dim=32))
            F.scaled_dot_product_attention(*qkv(tokens=20, dim=80, dtype=torch.bfloat16))
        self.assertEqual(sage.statistics(), {"launched": 1, "fallback": {"dtype": 1, "head_dim": 1}})
        self.assertEqual((self.library.launches[0].pv_type, self.library.launches[0].flags), (1, 0))
        with self.assertRaises(sage.ArgumentError):
            sage.install(pv="int8")
        with self.assertRaises(TypeError):
            sage.install(max_tokens=3)

    def test_what_the_library_cannot_is_torchs(self):
        self.library.answers["workspace"] = 29
        with sage.installed(pv="fp8"):
            F.scaled_dot_product_attention(*qkv())
        self.assertEqual(sage.statistics(), {"launched": 0, "fallback": {"no fp8": 1}})

    def test_twice_and_not_at_all(self):
        self.assertFalse(sage.uninstall())
        self.assertTrue(sage.install())
        first = F.scaled_dot_product_attention
        self.assertTrue(sage.install(min_kv_len=5))
        self.assertIsNot(F.scaled_dot_product_attention, first)
        with self.assertRaises(sage.ArgumentError), sage.installed():
            pass
        self.assertTrue(sage.uninstall())
        self.assertIs(F.scaled_dot_product_attention, ORIGINAL)

    def test_somebody_else_replaced_it_afterwards(self):
        sage.install()
        ours = F.scaled_dot_product_attention
        F.scaled_dot_product_attention = theirs = lambda *given, **options: ours(*given, **options)
        try:
            with self.assertRaisesRegex(sage.ArgumentError, "somebody replaced"):
                sage.uninstall()
            with self.assertRaisesRegex(sage.ArgumentError, "somebody replaced"):
                sage.install()
            self.assertIs(F.scaled_dot_product_attention, theirs)
        finally:
            F.scaled_dot_product_attention = ours

    def test_an_exception_inside_the_with_statement_puts_it_back(self):
        with self.assertRaises(KeyError), sage.installed():
            raise KeyError
        self.assertIs(F.scaled_dot_product_attention, ORIGINAL)
        self.assertIsNone(replacement._installed)

    def test_modules_of_torch_are_served(self):
        layer = torch.nn.MultiheadAttention(128, 2, batch_first=True).half().train()
        x = torch.randn(1, 1024, 128).half()
        with torch.no_grad():
            plain = layer(x, x, x, need_weights=False)[0]
            with sage.installed():
                quick = layer(x, x, x, need_weights=False)[0]
        self.assertLess((plain - quick).abs().max().item(), 5e-3)
        self.assertEqual(sage.statistics()["launched"], 1)


if __name__ == "__main__":
    standin.main()
