"""The benchmark of the package on the stand-in library: what it compares, what it refuses, the form of its result."""

import contextlib
import datetime
import io
import json
import math
import os
import sys
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

import standin
from standin import torch

try:
    import jsonschema
except ImportError:
    jsonschema = None

if torch is not None:
    from sage_doctor_attention import alias, bench, contenders, runtime
    from sage_doctor_attention.errors import SageAttentionError, UnsupportedError

SOURCE = Path(__file__).resolve().parents[2]
CPU = torch.device("cpu") if torch is not None else None


FACTS = {"name": "stand-in", "target": "sm_90", "runtime": "", "driver_version": 0, "units": 132, "clock_mhz": 1980, "copy_gbps": None}


class FakeClock:
    """Runs what is timed, and tells times that were set."""

    flushed_bytes = 1 << 20

    def __init__(self, times=(1.0,)):
        self.times = list(times)
        self.calls = 0

    def milliseconds(self, call):
        call()
        self.calls += 1
        return self.times[min(self.calls, len(self.times)) - 1]


def wish(*more):
    return bench.parser().parse_args(["--batch", "1", "--heads", "2", "--tokens", "64,100", "--head-dims", "64", *more])


def exact(q, k, v, is_causal):
    out, _ = standin.attention(q, k, v, is_causal, 1.0 / math.sqrt(q.shape[-1]))
    return out.to(q.dtype)


@unittest.skipIf(torch is None, standin.WHY_NO_TORCH)
class Bench(unittest.TestCase):
    def setUp(self):
        manager = standin.on_cpu()
        self.library = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        self.notes = []

    def run_with(self, found, *more, clock=None):
        return bench.run(wish(*more), CPU, FACTS, clock or FakeClock(), found, self.notes, lambda text: None)

    def test_our_kernels_are_measured_with_their_accuracy(self):
        clock = FakeClock()
        ours = [one for one in contenders.available(1 << 20, self.notes) if one.name == "sage f16"]
        rows = self.run_with(ours, "--runs", "4", clock=clock)
        self.assertEqual([(row["shape"]["tokens"], row["shape"]["causal"]) for row in rows],
                         [(64, False), (100, False), (64, True), (100, True)])
        for row in rows:
            self.assertEqual(row["problem"], "")
            self.assertTrue(row["accuracy"]["passed"])
            self.assertLess(row["accuracy"]["relative_l1"], 1e-3)
            self.assertEqual(row["milliseconds"], {"min": 1.0, "median": 1.0, "max": 1.0, "runs": 4})
            self.assertAlmostEqual(row["tflops"], (2 if row["shape"]["causal"] else 4) * 2 * row["shape"]["tokens"] ** 2 * 64 / 1e-3 / 1e12)
        self.assertEqual(clock.calls, 4 * (bench.WARM_UP + 4))
        self.assertEqual(len(self.library.launches), 4 * (1 + bench.WARM_UP + 4))

    def test_other_shapes_stand_beside_the_plain_one(self):
        found = contenders.available(1 << 20, self.notes)
        rows = self.run_with([one for one in found if one.ours], "--heads", "4", "--tokens", "100", "--shapes", "plain,gqa,varlen",
                             clock=FakeClock([2.0]))
        self.assertEqual({row["problem"] for row in rows}, {""})
        # Packed sequences have no fp8 function.
        self.assertEqual([(row["form"], row["contender"]) for row in rows[:5]],
                         [("plain", "sage f16"), ("plain", "sage fp8"), ("gqa", "sage f16"), ("gqa", "sage fp8"), ("varlen", "sage f16")])
        for row in rows:
            self.assertTrue(row["accuracy"]["passed"])
            self.assertLess(row["accuracy"]["relative_l1"], 1e-3)
        self.assertEqual(rows[2]["shape"]["kv_heads"], 1)
        self.assertEqual([row["of_plain"] for row in rows[:4]], [None, None, 1.0, 1.0])
        lengths = rows[4]["shape"]["lengths"]
        self.assertEqual(lengths, [37, 27, 19, 11, 6])
        self.assertAlmostEqual(rows[4]["tflops"], 4 * 4 * 64 * sum(length ** 2 for length in lengths) / 2e-3 / 1e12)
        self.assertAlmostEqual(rows[4]["of_plain"], sum(length ** 2 for length in lengths) / 100 ** 2)
        self.assertAlmostEqual(rows[9]["tflops"], rows[4]["tflops"] / 2)
        table = bench.table(self.whole(rows))
        self.assertTrue(all(len(line) <= 80 for line in table.splitlines()), table)
        self.assertIn("4 heads, 5 packed sequences", table)
        self.assertRegex(table, r"sage f16 .* 100 % ")

    def test_a_wrong_sequence_is_seen(self):
        def packed(q, k, v, at, is_causal):
            out = torch.zeros_like(q)
            for first, last in zip(at[:-1], at[1:]):
                part = [tensor[first:last].transpose(0, 1)[None] for tensor in (q, k, v)]
                out[first:last] = exact(*part, is_causal)[0].transpose(0, 1)
            out[at[-2]:] *= 1.5
            return out

        rows = self.run_with([contenders.Contender("off", exact, packed=packed)], "--tokens", "100", "--masks", "dense", "--shapes", "varlen")
        self.assertRegex(rows[0]["problem"], "^wrong numbers")

    def test_a_speed_is_a_share_of_the_peak_where_that_is_known(self):
        # As kernels/model/peak.cpp: 2 / (1 / 8192 + 1 / 4096) operations for each of 132 units and 1980 MHz.
        self.assertAlmostEqual(bench.peak_of(FACTS, ("int8", "f16")), 1427.4, 1)
        self.assertAlmostEqual(bench.peak_of(FACTS, ("f16", "f16")), 1070.5, 1)
        self.assertIsNone(bench.peak_of(FACTS, None))
        self.assertIsNone(bench.peak_of({**FACTS, "units": 0}, ("int8", "f16")))
        self.assertIsNone(bench.peak_of({**FACTS, "target": "gfx1201"}, ("int8", "f16")))
        self.assertIsNone(bench.peak_of({**FACTS, "target": "sm_80"}, ("int8", "fp8")))
        row = self.run_with([contenders.Contender("exact", exact, products=("f16", "f16"))], "--tokens", "64", "--masks", "dense")[0]
        self.assertAlmostEqual(row["peak_share"], row["tflops"] / bench.peak_of(FACTS, ("f16", "f16")))

    def test_medians_and_the_number_of_runs(self):
        times = [100.0] * bench.WARM_UP + [5.0, 1.0, 3.0, 4.0, 2.0]
        row = self.run_with([contenders.Contender("exact", exact)], "--tokens", "64", "--masks", "dense", clock=FakeClock(times))[0]
        self.assertEqual(row["milliseconds"], {"min": 1.0, "median": 3.0, "max": 5.0, "runs": 5})

    def test_a_speed_of_wrong_numbers_is_refused(self):
        def wrong(q, k, v, is_causal):
            return exact(q, k, v, is_causal) * 1.2

        clock = FakeClock()
        rows = self.run_with([contenders.Contender("wrong", wrong)], clock=clock)
        for row in rows:
            self.assertIsNone(row["milliseconds"])
            self.assertIsNone(row["tflops"])
            self.assertRegex(row["problem"], r"^wrong numbers: relative L1 0\.(2|1999)")
        self.assertEqual(clock.calls, 0)

    def test_one_wrong_row_and_one_that_is_no_number_are_seen(self):
        def off(value):
            def run(q, k, v, is_causal):
                out = exact(q, k, v, is_causal).clone()
                out[0, 0, 0] = out[0, 0, 0] * value
                return out

            return run

        for value in (2.0, math.nan):
            row = self.run_with([contenders.Contender("off", off(value))], "--tokens", "64", "--masks", "dense")[0]
            self.assertRegex(row["problem"], "^wrong numbers")
            json.dumps(row, allow_nan=False)  # what is no number is none in JSON either

    def test_a_shape_that_does_not_fit_leaves_the_others(self):
        def some_inputs(shape, dtype, device, real=bench.inputs):
            if shape["tokens"] == 100:
                raise RuntimeError("CUDA out of memory")
            return real(shape, dtype, device)

        with unittest.mock.patch.object(bench, "inputs", some_inputs):
            rows = self.run_with([contenders.Contender("exact", exact, ours=True), contenders.Contender("other", exact)], "--masks", "dense")
        self.assertEqual([(row["contender"], row["shape"]["tokens"], row["problem"]) for row in rows],
                         [("exact", 64, ""), ("other", 64, ""), ("exact", 100, "RuntimeError: CUDA out of memory")])

    def test_a_causal_contender_is_compared_with_causal_attention(self):
        def dense(q, k, v, is_causal):
            return exact(q, k, v, False)

        rows = self.run_with([contenders.Contender("dense", dense)])
        self.assertEqual([bool(row["problem"]) for row in rows], [False, False, True, True])

    def test_bfloat16_is_allowed_its_own_rounding(self):
        rows = self.run_with([contenders.Contender("exact", exact)], "--type", "bf16")
        self.assertEqual({row["type"] for row in rows}, {"bf16"})
        self.assertTrue(all(row["accuracy"]["passed"] for row in rows))
        self.assertAlmostEqual(rows[0]["accuracy"]["allowed_l1"], 0.014)

    def test_what_others_cannot_do_is_a_note_and_what_we_cannot_do_a_row(self):
        def fails(q, k, v, is_causal):
            raise RuntimeError("no kernel image\nmore words")

        def unsupported(q, k, v, is_causal):
            raise UnsupportedError("no fp8", "gfx1100 has no fp8")

        rows = self.run_with([contenders.Contender("other", fails), contenders.Contender("ours", fails, ours=True),
                              contenders.Contender("none", unsupported, ours=True)])
        self.assertEqual({row["contender"] for row in rows}, {"ours"})
        self.assertEqual(rows[0]["problem"], "RuntimeError: no kernel image")
        self.assertEqual(self.notes, ["other: RuntimeError: no kernel image", "none: UnsupportedError: gfx1100 has no fp8"])

    def test_math_is_left_out_where_it_needs_too_much_memory(self):
        rows = self.run_with([contenders.Contender("math", exact, largest=2 * 64 * 64)])
        self.assertEqual({row["shape"]["tokens"] for row in rows}, {64})
        self.assertEqual(len(self.notes), 1)

    def test_foreign_packages_are_taken_where_they_are_and_an_alias_of_ours_is_not(self):
        names = lambda: [one.name for one in contenders.available(1, self.notes)]
        self.assertNotIn("sageattention", names())
        calls = []

        def sageattn(q, k, v, tensor_layout, is_causal):
            calls.append(tensor_layout)
            return exact(q, k, v, is_causal)

        def flash_attn_func(q, k, v, causal):
            q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
            return exact(q, k, v, causal).transpose(1, 2)

        real = types.ModuleType("sageattention")
        real.sageattn = sageattn
        flash = types.ModuleType("flash_attn")
        flash.flash_attn_func = flash_attn_func
        with unittest.mock.patch.dict(sys.modules, sageattention=real, flash_attn=flash):
            found = [one for one in contenders.available(1, self.notes) if one.name in ("sageattention", "flash_attn")]
            rows = self.run_with(found)
            self.assertTrue(all(row["problem"] == "" for row in rows))
            self.assertEqual(len(rows), 8)
            self.assertEqual(set(calls), {"HND"})
            real.__version__ = alias.VERSION
            self.assertNotIn("sageattention", names())
        broken = unittest.mock.Mock(side_effect=RuntimeError("CUDA error"))
        with unittest.mock.patch.object(contenders, "_installed", broken):
            contenders.available(1, self.notes)
        self.assertIn("sageattention is installed and fails to load: RuntimeError: CUDA error", self.notes)

    def whole(self, rows):
        return bench.result({**FACTS, "target": "gfx1201", "units": 0, "clock_mhz": 0}, FakeClock(), rows, ["a note"], datetime.datetime(2026, 12, 1, 3))

    def some_result(self):
        def wrong(q, k, v, is_causal):
            return exact(q, k, v, is_causal) * 1.5

        return self.whole(self.run_with([contenders.Contender("exact", exact), contenders.Contender("wrong", wrong)]))

    @unittest.skipIf(jsonschema is None, "jsonschema is missing here")
    def test_the_result_has_the_form_of_the_schema(self):
        schema = json.loads((SOURCE / "docs" / "bench-schema.json").read_text())
        jsonschema.validate(json.loads(json.dumps(self.some_result(), allow_nan=False)), schema)

    def test_the_table_fits_80_columns_and_shows_no_refused_speed(self):
        text = bench.table(self.some_result())
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertIn("no speed: wrong numbers", text)
        self.assertIn("note: a note", text)

    def test_without_a_gpu_it_says_why(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), unittest.mock.patch.object(runtime, "why_no_gpu", lambda: "there is none"):
            self.assertEqual(bench.main([]), 1)
        self.assertIn("nothing can be measured here: there is none", errors.getvalue())

    def test_wrong_options_are_refused(self):
        for given in (["--tokens", "0"], ["--masks", "some"], ["--head-dims", "x"], ["--type", "f32"], ["--shapes", "round"]):
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
                bench.parser().parse_args(given)
            self.assertEqual(ended.exception.code, 2)

    def test_a_plot_is_drawn_by_sage_doctor(self):
        with unittest.mock.patch.object(bench.shutil, "which", lambda name: None):
            with self.assertRaisesRegex(SageAttentionError, "sage-doctor is not on PATH"):
                bench.plot(self.some_result(), "x.svg")
        program = os.environ.get("SAGE_DOCTOR")
        if not program:
            return
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(bench.shutil, "which", lambda name: program):
            bench.plot(self.some_result(), f"{folder}/plot.svg")
            self.assertIn("stand-in (gfx1201)", Path(folder, "plot.svg").read_text())


if __name__ == "__main__":
    standin.main()
