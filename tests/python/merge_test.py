"""merge_partials(): parts of the keys put together, also by two processes in a ring."""

import multiprocessing
import tempfile
import unittest

import standin
from standin import torch

if torch is not None:
    import sage_doctor_attention as sage


def problem():
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(1, 2, tokens, 16, generator=generator) for tokens in (24, 40, 40)]


def ring_rank(rank, world, folder, results):
    """Its own queries; keys and values go round."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/ring", rank=rank, world_size=world)
    try:
        q, k, v = problem()
        q = q.chunk(world, 2)[rank]
        held = torch.stack([k, v]).chunk(world, 3)[rank].contiguous()
        parts = []
        for step in range(world):
            parts.append(standin.attention(q, held[0], held[1], False, 0.25))
            if step + 1 == world:
                break
            received = torch.empty_like(held)
            work = [dist.isend(held, (rank + 1) % world), dist.irecv(received, (rank - 1) % world)]
            for one in work:
                one.wait()
            held = received
        out, lse = sage.merge_partials([part[0] for part in parts], [part[1] for part in parts])
        results.put((rank, out.tolist(), lse.tolist()))
    finally:
        dist.destroy_process_group()


@unittest.skipIf(torch is None, standin.WHY_NO_TORCH)
class Merge(unittest.TestCase):
    def assertClose(self, out, reference, tolerance=1e-5):
        self.assertEqual(out.shape, reference.shape)
        self.assertLess((out.float() - reference.float()).abs().max().item(), tolerance)

    def test_parts_are_the_whole(self):
        q, k, v = problem()
        reference, reference_lse = standin.attention(q, k, v, False, 0.25)
        for cuts in ([0, 40], [0, 1, 40], [0, 13, 14, 39, 40]):
            parts = [standin.attention(q, k[:, :, a:b], v[:, :, a:b], False, 0.25) for a, b in zip(cuts, cuts[1:])]
            outs, lses = [part[0] for part in parts], [part[1] for part in parts]
            out, lse = sage.merge_partials(outs, lses)
            self.assertClose(out, reference)
            self.assertClose(lse, reference_lse)
            out, lse = sage.merge_partials([o.transpose(1, 2) for o in outs], lses, "NHD")
            self.assertClose(out.transpose(1, 2), reference)
            # Merging merged parts is the same.
            out, lse = sage.merge_partials([out.transpose(1, 2)], [lse])
            self.assertClose(out, reference)

    def test_queries_without_keys(self):
        none = torch.full((1, 1, 2), float("-inf"))
        some = torch.tensor([[[1.0, float("-inf")]]])
        zero, one = torch.zeros(1, 1, 2, 4), torch.ones(1, 1, 2, 4)
        out, lse = sage.merge_partials([zero, one], [none, some])
        self.assertTrue(torch.equal(out[0, 0, 0], torch.ones(4)))
        self.assertTrue(torch.equal(out[0, 0, 1], torch.zeros(4)))
        self.assertEqual(lse[0, 0].tolist(), [1.0, float("-inf")])

    def test_scores_far_apart(self):
        out, lse = sage.merge_partials([torch.ones(1, 1, 1, 2), torch.zeros(1, 1, 1, 2)],
                                       [torch.full((1, 1, 1), 900.0), torch.full((1, 1, 1), -900.0)])
        self.assertTrue(torch.equal(out, torch.ones(1, 1, 1, 2)))
        self.assertEqual(lse.item(), 900.0)

    def test_the_type_of_the_outputs_is_kept(self):
        out, _ = sage.merge_partials([torch.ones(1, 1, 1, 2).half()] * 2, [torch.zeros(1, 1, 1)] * 2)
        self.assertEqual(out.dtype, torch.float16)

    def test_bad_parts(self):
        out, lse = torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3)
        for outs, lses in (([], []), ([out], []), ([out], [lse[:, :, :2]]), ([out, out[:, :1]], [lse, lse[:, :1]]),
                           ([out[0]], [lse[0]])):
            with self.assertRaises(sage.ArgumentError):
                sage.merge_partials(outs, lses)
        with self.assertRaises(sage.ArgumentError):
            sage.merge_partials([out], [lse], "NHD")

    def test_a_ring_of_two_processes(self):
        import torch.distributed as dist

        if not dist.is_available() or not dist.is_gloo_available():
            self.skipTest("this PyTorch is built without gloo")
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        with tempfile.TemporaryDirectory() as folder:
            ranks = [context.Process(target=ring_rank, args=(rank, 2, folder, results)) for rank in range(2)]
            for rank in ranks:
                rank.start()
            got = sorted(results.get(timeout=240) for _ in ranks)
            for rank in ranks:
                rank.join()
        reference, reference_lse = standin.attention(*problem(), False, 0.25)
        self.assertClose(torch.cat([torch.tensor(part[1]) for part in got], 2), reference)
        self.assertClose(torch.cat([torch.tensor(part[2]) for part in got], 2), reference_lse)


if __name__ == "__main__":
    standin.main()
