"""sage-doctor bench: without a GPU, of results that it is given, and through a stand-in for HIP that runs the kernels on
emulated lanes and tells times that are set.

SAGE_TEST_LIBRARY, SAGE_TEST_HIP, SAGE_TEST_OBJECTS: libsage_attention, the stand-in, the folder of code objects for it.
SAGE_TEST_TEXT: the device text.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import xml.dom.minidom

import jsonschema

import binary
from binary import BARE_ENVIRONMENT, BINARY, CAPTURES, SOURCE, run, run_on_terminal

SCHEMA = json.loads((SOURCE / "docs" / "bench-schema.json").read_text())
LIBRARY, HIP, OBJECTS, TEXT = (os.environ.get(f"SAGE_TEST_{name}", "") for name in ("LIBRARY", "HIP", "OBJECTS", "TEXT"))
CLANG = shutil.which("clang++-19")
ESCAPE = "\x1b"


def spread(median):
    return {"min": median * 0.9, "median": median, "max": median * 1.1, "runs": 20}


def row(contender, tokens, speed, **more):
    accuracy = {"relative_l1": 0.01, "rmse": 4e-4, "worst_row": 0.02, "allowed_l1": 0.012, "allowed_worst_row": 0.05, "rows": 72, "passed": True}
    one = {"contender": contender, "part": "call", "form": "plain",
           "shape": {"batch": 4, "heads": 32, "kv_heads": 32, "tokens": tokens, "kv_tokens": tokens, "head_dim": 128, "causal": False, "lengths": []},
           "type": "f16", "kernel": "", "milliseconds": spread(4 * 4 * 32 * tokens ** 2 * 128 / speed / 1e9), "tflops": speed, "peak_share": None,
           "of_plain": None, "bytes": 0, "copy_ratio": None, "accuracy": accuracy, "problem": ""}
    one.update(more)
    return one


def result(*rows):
    return {"schema_version": 2, "tool": "a test", "time": "2026-12-01T03:00:00Z", "origin": "measured",
            "device": {"name": "A GPU", "target": "gfx1201", "runtime": "", "driver_version": 0, "units": 64, "clock_mhz": 2970, "copy_gbps": None},
            "method": {"clock": "driver events", "warm_up": 3, "flushed_bytes": 1 << 29, "copied_bytes": 0}, "rows": list(rows), "tuning": None,
            "notes": ["a note"]}


REFUSED = row("sage fp8", 4096, 1, milliseconds=None, tflops=None, problem="wrong numbers: relative L1 0.3 (allowed 0.042)")


class Folder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)


class WithoutGpu(Folder):
    def test_nothing_can_be_measured_and_the_model_is_offered(self):
        finished = run("bench", "--prefix", self.folder)
        self.assertEqual((finished.returncode, finished.stdout), (1, ""))
        self.assertIn("nothing can be measured here", finished.stderr)
        self.assertIn("sage-doctor bench --model --target gfx1201", finished.stderr)

    def test_a_runtime_without_kernels_says_how_to_get_some(self):
        finished = run("bench", "--prefix", self.folder, "--runtime", "/nonexistent/libamdhip64.so")
        self.assertEqual(finished.returncode, 1)
        self.assertIn("sage-doctor build", finished.stderr)

    def test_the_model_says_what_it_is_wherever_it_is_printed(self):
        svg, page = self.folder / "model.svg", self.folder / "model.html"
        finished = run("bench", "--model", "--target", "gfx1201", "--plot", svg, "--plot", page)
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        for text in (finished.stdout, svg.read_text(), page.read_text()):
            self.assertIn("A MODEL, NOT A MEASUREMENT", text)
        self.assertIn("d128_F16_LONG", finished.stdout)
        self.assertTrue(all(len(line) <= 80 for line in finished.stdout.splitlines()), finished.stdout)
        told = json.loads(run("bench", "--model", "--target", "gfx1100", "--json").stdout)
        jsonschema.validate(told, SCHEMA)
        self.assertEqual(told["origin"], "modelled")
        self.assertIn("NOT A MEASUREMENT", told["notes"][0])
        self.assertTrue(all(one["milliseconds"] is None for one in told["rows"]))

    def test_the_model_knows_what_it_does_not_know(self):
        for target in ("sm_90", "gfx906", "gfx950"):
            finished = run("bench", "--model", "--target", target)
            self.assertEqual((finished.returncode, finished.stdout), (1, ""), target)
            self.assertIn("the model has no figures for " + target, finished.stderr)

    def test_wrong_options_are_wrong_usage(self):
        for wrong in (["--plot", "x.png"], ["--masks", "some"], ["--pv", "f32"], ["--head-dims", "512"], ["--tokens", "0"], ["--runs", "0"],
                      ["--shapes", "round"], ["--target", "rx9070"]):
            self.assertEqual(run("bench", *wrong).returncode, 2, wrong)


class Shown(Folder):
    def show(self, what, *arguments):
        file = self.folder / "result.json"
        file.write_text(what if isinstance(what, str) else json.dumps(what))
        return run("bench", "--from", file, *arguments)

    def test_a_result_is_shown_and_drawn(self):
        plot, page = self.folder / "plot.svg", self.folder / "plot.html"
        what = result(*(row(name, tokens, speed) for tokens in (1024, 2048, 4096) for name, speed in (("sage f16", 400), ("sdpa flash", 300))))
        finished = self.show(what, "--plot", plot, "--plot", page)
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        self.assertTrue(all(len(line) <= 80 for line in finished.stdout.splitlines()), finished.stdout)
        self.assertIn("A GPU (gfx1201), 64 compute units", finished.stdout)
        self.assertRegex(finished.stdout, r"4096 +sage f16 +2\.749 +\(2\.474 to 3\.024\) +400\.0 +unknown +0\.0100")
        drawn = xml.dom.minidom.parse(str(plot))
        self.assertEqual(len(drawn.getElementsByTagName("path")), 2)
        self.assertIn("sdpa flash", page.read_text())
        self.assertNotIn("http", page.read_text().replace("http://www.w3.org/2000/svg", ""))

    def test_a_plot_that_cannot_be_written_takes_no_figures_along(self):
        finished = self.show(result(row("sage f16", 1024, 400)), "--plot", self.folder / "none" / "plot.svg", "--plot", self.folder / "plot.html")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("cannot write", finished.stderr)
        self.assertIn("400.0", finished.stdout)
        self.assertTrue((self.folder / "plot.html").exists())

    def test_it_comes_back_as_it_was(self):
        what = result(row("sage f16", 1024, 400), REFUSED)
        told = json.loads(self.show(what, "--json").stdout)
        jsonschema.validate(told, SCHEMA)
        self.assertEqual(told, what)

    def test_a_refused_speed_is_told_and_fails(self):
        finished = self.show(result(row("sage f16", 4096, 400), REFUSED))
        self.assertEqual(finished.returncode, 1)
        self.assertIn("no speed: wrong numbers: relative L1 0.3 (allowed 0.042)", finished.stdout)

    def test_what_is_no_result_is_refused_with_its_place(self):
        bad = result(row("sage f16", 1024, 400))
        bad["rows"][0]["accuracy"]["passed"] = False
        for what, words in (("", "it is no JSON"), ("{}", "schema_version is missing"), (json.dumps({**result(), "schema_version": 9}), "not 9"),
                            (bad, "rows[0]: a speed of wrong numbers")):
            finished = self.show(what)
            self.assertEqual((finished.returncode, finished.stdout), (2, ""), what)
            self.assertIn(words, finished.stderr)
        self.assertEqual(run("bench", "--from", self.folder / "none").returncode, 2)
        self.assertNotIn(ESCAPE, run("bench", "--from", self.folder / f"none{ESCAPE}[31m").stderr)

    def test_no_escape_codes_reach_a_terminal_or_a_picture(self):
        what = result(row("evil\x1b[31m", 1024, 400))
        what["device"]["name"] = "\x1b]0;title\x07<b>"
        file, plot = self.folder / "evil.json", self.folder / "evil.svg"
        file.write_text(json.dumps(what))
        self.assertNotIn(ESCAPE, run_on_terminal("bench", "--from", file, "--plot", plot))
        self.assertNotIn("<b>", plot.read_text())
        xml.dom.minidom.parse(str(plot))


@unittest.skipUnless(HIP, "the kernels are not built here")
class Emulated(Folder):
    """An installation of the kernels that the stand-in can run: prologue, and head dim 64 and 128 in their short tiles."""

    KERNELS = ["sage_prologue", "sage_attention_d64_F16_SHORT", "sage_attention_d128_F16_SHORT"]

    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        version = self.prefix / "versions" / "0.1.0-test"
        (version / "kernels").mkdir(parents=True)
        files = {"lib/libsage_attention.so.1": pathlib.Path(LIBRARY).read_bytes(), "src/sage_kernels.hip": pathlib.Path(TEXT).read_bytes()}
        objects = pathlib.Path(OBJECTS, "gfx1201", "kernels.hsaco").read_bytes()
        for name in self.KERNELS:
            files[f"kernels/gfx1201-{name}.hsaco"] = objects
        digests = {}
        for name, content in files.items():
            (version / name).parent.mkdir(exist_ok=True)
            (version / name).write_bytes(content)
            digests[name] = hashlib.sha256(content).hexdigest()
        kernels = [{"name": name, "file": f"kernels/gfx1201-{name}.hsaco", "sha256": digests[f"kernels/gfx1201-{name}.hsaco"], "origin": "compiled",
                    "vgprs": 1, "sgprs": 1, "lds_bytes": 1, "scratch_bytes": 0, "spilled_registers": 0, "executed_on": "none", "warnings": []}
                   for name in self.KERNELS]
        toolchain = {"kind": "clang++", "path": "/usr/bin/clang++-19", "version": "19.1.7", "rocm_version": ""}
        manifest = {"version": 1, "tool_version": "0.1.0", "created": "2026-12-01T00:00:00Z", "mark": "x",
                    "source_sha256": digests["src/sage_kernels.hip"],
                    "library": {"file": "lib/libsage_attention.so.1", "sha256": digests["lib/libsage_attention.so.1"], "abi_version": 1},
                    "targets": [{"target": "gfx1201", "family": "gfx12", "toolchain": toolchain, "kernels": kernels}], "accuracy": [],
                    "other_files": [{"file": "src/sage_kernels.hip", "sha256": digests["src/sage_kernels.hip"]}]}
        (version / "manifest.json").write_text(json.dumps(manifest))
        (self.prefix / "current").symlink_to("versions/0.1.0-test")

    def bench(self, *arguments, heads=1, **variables):
        environment = {**BARE_ENVIRONMENT, "EMULATED_HIP_MILLISECONDS": "2", **variables}
        return subprocess.run([BINARY, "bench", "--prefix", str(self.prefix), "--runtime", HIP, "--batch", "1", "--heads", str(heads), "--runs", "1",
                               *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)

    def manifest(self):
        return json.loads((self.prefix / "current" / "manifest.json").read_text())

    def tuning(self):
        return (self.prefix / "current" / "kernels" / "tuning.txt").read_text()

    def test_kernel_and_call_are_measured_with_their_accuracy(self):
        finished = self.bench("--tokens", "64", "--head-dims", "64,128", "--json")
        self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout)
        told = json.loads(finished.stdout)
        jsonschema.validate(told, SCHEMA)
        self.assertEqual(told["device"]["target"], "gfx1201")
        self.assertEqual(told["device"]["name"], "Emulated GPU")
        self.assertGreater(told["method"]["flushed_bytes"], 0)
        copied = told["method"]["copied_bytes"]
        self.assertGreater(copied, 0)
        self.assertAlmostEqual(told["device"]["copy_gbps"], 2 * copied / 2e-3 / 1e9)
        self.assertEqual([one["part"] for one in told["rows"]], ["kernel", "prologue", "call"] * 8)
        for one in told["rows"]:
            self.assertEqual(one["problem"], "")
            self.assertEqual(one["milliseconds"], {"min": 2.0, "median": 2.0, "max": 2.0, "runs": 1})
            if one["part"] == "prologue":
                # Q, K, V read, K once more, two times int8 and V^T written; 64 tokens take the room of 128 keys.
                least = 64 * one["shape"]["head_dim"] * (4 * 2 + 1)
                self.assertGreater(one["bytes"], least)
                self.assertLess(one["bytes"], 2 * least)
                self.assertAlmostEqual(one["copy_ratio"], 2 * copied / one["bytes"])
                self.assertIsNone(one["tflops"])
            else:
                operations = (2 if one["shape"]["causal"] else 4) * 64 ** 2 * one["shape"]["head_dim"]
                self.assertAlmostEqual(one["tflops"], operations / 2e-3 / 1e12)
                self.assertEqual(one["bytes"], 0)
            self.assertTrue(one["accuracy"]["passed"])
            self.assertGreater(one["accuracy"]["relative_l1"], 1e-4)
            self.assertLess(one["accuracy"]["relative_l1"], 0.042)
            self.assertIsNone(one["peak_share"])
            self.assertRegex(one["kernel"], "_SHORT$")

    def test_the_table_says_what_is_unknown(self):
        finished = self.bench("--tokens", "64", "--head-dims", "64", "--masks", "dense", "--pv", "f16")
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        self.assertRegex(finished.stdout, r"\n +64  sage f16 +0\.00 0\.00-0\.00     \?   0\.00 0\.00-0\.00  2000 +[0-9.]+  0\.0[0-9]+\n")
        self.assertIn("note: the share of the peak is unknown", finished.stdout)

    def test_without_a_copy_there_is_no_ratio(self):
        finished = self.bench("--tokens", "64", "--head-dims", "64", "--masks", "dense", "--pv", "f16", "--json", EMULATED_HIP_NO_COPY="1")
        self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout)
        told = json.loads(finished.stdout)
        self.assertIn("the speed of a copy is unknown: copying failed with 801", told["notes"])
        self.assertEqual([one["copy_ratio"] for one in told["rows"]], [None] * 3)
        self.assertIsNone(told["device"]["copy_gbps"])
        self.assertEqual(told["rows"][1]["milliseconds"]["median"], 2.0)

    def test_other_shapes_stand_beside_the_plain_one(self):
        finished = self.bench("--tokens", "100", "--head-dims", "64", "--masks", "dense", "--pv", "f16", "--shapes", "plain,gqa,tail,cross",
                              "--json", heads=4)
        self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout)
        told = json.loads(finished.stdout)
        jsonschema.validate(told, SCHEMA)
        kernels = [one for one in told["rows"] if one["part"] == "kernel"]
        extents = [(one["form"], *(one["shape"][name] for name in ("heads", "kv_heads", "tokens", "kv_tokens"))) for one in kernels]
        self.assertEqual(extents, [("plain", 4, 4, 100, 100), ("gqa", 4, 1, 100, 100), ("tail", 4, 4, 99, 99), ("tail", 4, 4, 7, 7),
                                   ("cross", 4, 4, 50, 200)])
        self.assertTrue(all(one["accuracy"]["passed"] for one in told["rows"]))
        # All take as long: a speed is as its work.
        self.assertIsNone(kernels[0]["of_plain"])
        for one in kernels[1:]:
            self.assertAlmostEqual(one["of_plain"], one["shape"]["tokens"] * one["shape"]["kv_tokens"] / 100 ** 2)
        self.assertEqual([one["of_plain"] for one in told["rows"] if one["part"] == "prologue"], [None] * 5)

    def test_shapes_that_cannot_be_made_are_told(self):
        finished = self.bench("--tokens", "64", "--shapes", "gqa")
        self.assertEqual((finished.returncode, finished.stdout), (1, ""))
        self.assertIn("none can be made here", finished.stderr)

    def test_an_interrupt_while_the_gpu_is_looked_for_is_one(self):
        for more in ([], ["--tune"]):
            sign = self.folder / "hangs"
            process = subprocess.Popen([BINARY, "bench", "--prefix", str(self.prefix), "--runtime", HIP, *more], stdin=subprocess.DEVNULL,
                                       env={**BARE_ENVIRONMENT, "EMULATED_HIP_HANG": str(sign)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while not sign.exists() and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=120)
            self.assertEqual((process.returncode, output), (130, ""), errors)
            self.assertIn("interrupted: nothing was measured", errors)
            sign.unlink()

    def test_wrong_numbers_have_no_speed(self):
        finished = self.bench("--tokens", "64", "--head-dims", "64", "--masks", "dense", "--pv", "f16", EMULATED_HIP_WRONG="1")
        self.assertEqual(finished.returncode, 1, finished.stdout)
        self.assertEqual(finished.stdout.count("no speed: wrong numbers"), 1)
        self.assertNotIn("0.00-", finished.stdout)
        self.assertNotIn(" 2000 ", finished.stdout)

    def test_what_has_no_kernel_is_told(self):
        finished = self.bench("--tokens", "64", "--head-dims", "96", "--masks", "dense", "--pv", "f16")
        self.assertEqual(finished.returncode, 1)
        self.assertIn("no kernel for head_dim 96", finished.stdout.replace("\n              ", " "))

    def test_a_crash_is_a_reason(self):
        finished = self.bench("--tokens", "64", "--head-dims", "64", "--masks", "dense", "--pv", "f16", EMULATED_HIP_CRASH="1")
        self.assertEqual(finished.returncode, 1)
        self.assertIn("killed by signal", finished.stdout)

    def test_an_interrupt_leaves_what_was_measured_and_nothing_half_done(self):
        for more in ([], ["--tune"]):
            process = subprocess.Popen([BINARY, "bench", "--prefix", str(self.prefix), "--runtime", HIP, "--batch", "1", "--heads", "1", "--runs", "1000",
                                        "--tokens", "64", "--head-dims", "64", "--masks", "dense", "--pv", "f16", "-v", *more], env=BARE_ENVIRONMENT,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            # The first line of a step: from then on a child is at work.
            for line in process.stderr:
                if "] 0/" in line:
                    break
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 130, output)
            self.assertNotIn("kernel  ", output)
            self.assertEqual(os.listdir(self.prefix / "versions"), ["0.1.0-test"])

    def test_damaged_kernels_are_not_measured(self):
        (self.prefix / "current" / "kernels" / "gfx1201-sage_prologue.hsaco").write_bytes(b"x")
        finished = self.bench("--tokens", "64")
        self.assertEqual((finished.returncode, finished.stdout), (1, ""))
        self.assertIn("is damaged", finished.stderr)

    SMALL = ("--tune", "--tokens", "64", "--head-dims", "64", "--masks", "dense", "--pv", "f16")
    OTHER = "sage_attention_d64_F16_B128K64X"

    @unittest.skipUnless(CLANG, "clang++-19 is not on PATH")
    def test_tuning_stores_what_is_faster_and_the_library_uses_it(self):
        finished = self.bench(*self.SMALL, "--toolchain", CLANG, "--json", EMULATED_HIP_FASTER="B128K64X")
        self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout)
        told = json.loads(finished.stdout)
        jsonschema.validate(told, SCHEMA)
        choices = told["tuning"]["choices"]
        self.assertEqual([(one["shape_class"], one["kernel"], one["usual"], one["gain"]) for one in choices],
                         [("d64 F16 SHORT dense", self.OTHER, "sage_attention_d64_F16_SHORT", 1.0)])
        self.assertTrue(told["tuning"]["stored"])
        # What the stand-in can't run is told, not hidden.
        failed = {one["kernel"] for one in told["tuning"]["trials"] if one["problem"]}
        self.assertIn("sage_attention_d64_F16_B256K64Q32", failed)
        self.assertEqual(self.tuning().splitlines()[4:], [f"choice d64 F16 SHORT dense {self.OTHER}", "end"])
        sent = json.loads((self.prefix / "bench-tune.json").read_text())
        self.assertEqual(sent["tuning"]["choices"], choices)
        # The old version is still there, and the new one is whole.
        self.assertEqual(sorted(os.listdir(self.prefix / "versions")), ["0.1.0-test", "0.1.0-test-2"])
        self.assertIn(self.OTHER, [one["name"] for one in self.manifest()["targets"][0]["kernels"]])
        after = json.loads(self.bench("--tokens", "64", "--head-dims", "64", "--pv", "f16", "--json").stdout)
        self.assertIn("1 choice of tuning.txt", after["notes"])
        self.assertEqual({one["kernel"] for one in after["rows"] if not one["shape"]["causal"]}, {self.OTHER})
        self.assertEqual({one["kernel"] for one in after["rows"] if one["shape"]["causal"]}, {"sage_attention_d64_F16_SHORT"})

        # Another class: the first choice stays. Then one that is no longer faster goes.
        finished = self.bench(*self.SMALL, "--masks", "causal", "--toolchain", CLANG, EMULATED_HIP_FASTER="B128K64X")
        self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout)
        self.assertEqual(len(re.findall("^choice ", self.tuning(), re.M)), 2)
        finished = self.bench("--tune", "--tokens", "64", "--head-dims", "64", "--pv", "f16", "--toolchain", CLANG)
        self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout)
        self.assertIn("no kernel is faster than the usual ones by 2 % or more", finished.stdout)
        self.assertFalse((self.prefix / "current" / "kernels" / "tuning.txt").exists())
        self.assertNotIn(self.OTHER, [one["name"] for one in self.manifest()["targets"][0]["kernels"]])

    def test_a_compiler_that_is_not_there_is_refused(self):
        finished = self.bench(*self.SMALL, "--toolchain", "/nonexistent/clang++")
        self.assertEqual((finished.returncode, finished.stdout), (2, ""))
        self.assertIn("no compiler of that path or kind was found", finished.stderr)

    def test_a_foreign_tuning_is_told_and_changes_nothing(self):
        text = self.prefix / "versions" / "0.1.0-test" / "kernels" / "tuning.txt"
        text.write_text("sage-tuning 1\nsource 0\ntarget gfx1201\ngpu Emulated GPU\nend\n")
        finished = self.bench("--tokens", "64", "--head-dims", "64", "--masks", "dense", "--pv", "f16")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("note: tuning.txt is ignored: it was made for another version of the kernels", finished.stdout)


if __name__ == "__main__":
    binary.main()
