"""The library through the package's own loading and structures, on a HIP runtime that runs the kernels on emulated lanes.

Nothing here is a GPU, but everything between Python and the kernels is the real thing: libsage_attention, its search for
the mapped runtime, code objects from a folder, the launches. Needs no PyTorch; the reference is plain Python.

SAGE_TEST_LIBRARY: libsage_attention.so.1; SAGE_TEST_HIP: the stand-in libamdhip64; SAGE_TEST_OBJECTS: the folder that
write_code_objects has filled; SAGE_TEST_TEXT: the device text.
"""

import ctypes
import hashlib
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torchless

abi = torchless.module("abi")
library = torchless.module("library")
paths = torchless.module("paths")
errors = torchless.module("errors")

LIBRARY, HIP, OBJECTS, TEXT = (os.environ.get(f"SAGE_TEST_{name}", "") for name in ("LIBRARY", "HIP", "OBJECTS", "TEXT"))


class Half:
    """A float16 tensor [batch, heads, tokens, dim] in memory, of normal numbers; `by_token`: tokens before heads."""

    def __init__(self, shape, seed, by_token=False):
        batch, heads, tokens, dim = shape
        self.shape = shape
        self.strides = (heads * tokens * dim, dim, heads * dim, 1) if by_token else (heads * tokens * dim, tokens * dim, dim, 1)
        numbers = random.Random(seed)
        count = batch * heads * tokens * dim
        raw = struct.pack(f"{count}e", *(numbers.gauss(0, 1) for _ in range(count)))
        self.memory = ctypes.create_string_buffer(raw, len(raw))
        self.address = ctypes.addressof(self.memory)

    def row(self, b, h, n):
        at = 2 * (b * self.strides[0] + h * self.strides[1] + n * self.strides[2])
        return struct.unpack_from(f"{self.shape[3]}e", self.memory, at)


def exact(q, k, v, b, h, n, is_causal, scale):
    """(row, lse) of attention, in double precision."""
    kv_head = h // (q.shape[1] // k.shape[1])
    keys = range(min(n + 1, k.shape[2]) if is_causal else k.shape[2])
    row = q.row(b, h, n)
    scores = [scale * sum(x * y for x, y in zip(row, k.row(b, kv_head, j))) for j in keys]
    top = max(scores)
    weights = [math.exp(s - top) for s in scores]
    total = sum(weights)
    out = [0.0] * q.shape[3]
    for j, weight in zip(keys, weights):
        for d, value in enumerate(v.row(b, kv_head, j)):
            out[d] += weight / total * value
    return out, top + math.log(total)


def make_context(folder, api=abi.API_HIP, runtime_path=None):
    """(status, handle, text)"""
    options = abi.ContextOptions(ctypes.sizeof(abi.ContextOptions), abi.VERSION, api, 0, runtime_path)
    handle, error = ctypes.c_void_p(), abi.Error()
    status = library.library().sage_context_from_folder(
        os.fsencode(folder), ctypes.byref(options), ctypes.byref(handle), ctypes.byref(error))
    return status, handle.value, error.text.decode()


def attention(handle, q, k, v, is_causal=False, fp8=False, out_by_token=False):
    """(out, lse values) of one launch."""
    scale = q.shape[3] ** -0.5
    out = Half(q.shape, 0, out_by_token)
    ctypes.memset(out.address, 0xFF, len(out.memory))
    rows = q.shape[0] * q.shape[1] * q.shape[2]
    lse = (ctypes.c_float * rows)()
    problem = abi.problem(
        q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], abi.IO_F16, abi.PV_FP8 if fp8 else abi.PV_F16,
        abi.MASK_CAUSAL_TOP_LEFT if is_causal else abi.MASK_NONE, abi.FLAG_SMOOTH_K | abi.FLAG_LSE, scale,
        [t.strides for t in (q, k, v, out)])
    size, error = ctypes.c_uint64(), abi.Error()
    if library.library().sage_attention_workspace(handle, problem, ctypes.byref(size), ctypes.byref(error)) != abi.OK:
        raise library.failure(error)
    workspace = ctypes.create_string_buffer(size.value + 256)
    aligned = (ctypes.addressof(workspace) + 255) // 256 * 256
    buffers = abi.buffers(q.address, k.address, v.address, out.address, ctypes.addressof(lse), aligned, size.value)
    if library.library().sage_attention_launch(handle, problem, buffers, None, ctypes.byref(error)) != abi.OK:
        raise library.failure(error)
    return out, list(lse)


@unittest.skipUnless(LIBRARY and HIP and OBJECTS, "SAGE_TEST_LIBRARY, SAGE_TEST_HIP, SAGE_TEST_OBJECTS are not set (ctest sets them)")
class Emulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The way torch would have mapped it.
        cls.hip = ctypes.CDLL(HIP)
        cls.hip.emulated_hip_launches.restype = ctypes.c_uint64
        cls.home = tempfile.TemporaryDirectory()
        (Path(cls.home.name) / "lib").mkdir()
        shutil.copy(LIBRARY, Path(cls.home.name) / "lib" / "libsage_attention.so.1")
        os.environ[paths.HOME_VARIABLE] = cls.home.name

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def check(self, handle, q, k, v, is_causal=False, fp8=False, out_by_token=False):
        out, lse = attention(handle, q, k, v, is_causal, fp8, out_by_token)
        difference = magnitude = worst = 0.0
        for b in range(q.shape[0]):
            for h in range(q.shape[1]):
                for n in range(0, q.shape[2], 7):
                    row, exact_lse = exact(q, k, v, b, h, n, is_causal, q.shape[3] ** -0.5)
                    apart = sum(abs(x - y) for x, y in zip(out.row(b, h, n), row))
                    size = sum(map(abs, row))
                    difference, magnitude, worst = difference + apart, magnitude + size, max(worst, apart / size)
                    self.assertAlmostEqual(lse[(b * q.shape[1] + h) * q.shape[2] + n], exact_lse, delta=2e-2)
        self.assertLess(difference / magnitude, 0.042 if fp8 else 0.012)
        self.assertLess(worst, 0.12 if fp8 else 0.05)

    def test_a_folder_of_code_objects(self):
        status, handle, text = make_context(Path(OBJECTS) / "gfx1201")
        self.assertEqual(status, abi.OK, text)
        before = self.hip.emulated_hip_launches()
        self.check(handle, Half((2, 4, 20, 64), 1), Half((2, 2, 50, 64), 2), Half((2, 2, 50, 64), 3))
        self.assertEqual(self.hip.emulated_hip_launches() - before, 4)
        self.check(handle, Half((1, 2, 40, 128), 1, True), Half((1, 1, 40, 128), 2, True), Half((1, 1, 40, 128), 3, True),
                   is_causal=True, out_by_token=True)
        self.check(handle, Half((1, 1, 20, 64), 1), Half((1, 1, 130, 64), 2), Half((1, 1, 130, 64), 3), fp8=True)
        library.library().sage_context_destroy(handle)

    def test_a_bundle_for_several_targets(self):
        status, handle, text = make_context(Path(OBJECTS) / "bundle")
        self.assertEqual(status, abi.OK, text)
        self.check(handle, Half((1, 1, 16, 64), 1), Half((1, 1, 33, 64), 2), Half((1, 1, 33, 64), 3))
        library.library().sage_context_destroy(handle)

    def test_the_bundles_other_targets(self):
        for target in ("gfx942:sramecc+:xnack-", "gfx1100"):
            # Another process: the stand-in reads its target once.
            program = (
                "import sys; sys.argv = ['x']; import emulated_test as t\n"
                "t.Emulated.setUpClass()\n"
                "status, handle, text = t.make_context(t.Path(t.OBJECTS) / 'bundle')\n"
                "if status: print(text); raise SystemExit(0)\n"
                "t.Emulated().check(handle, t.Half((1, 1, 16, 64), 1), t.Half((1, 1, 33, 64), 2), t.Half((1, 1, 33, 64), 3))\n"
                "print('computed')\n")
            done = subprocess.run(
                [sys.executable, "-B", "-c", program], capture_output=True, text=True, cwd=Path(__file__).parent, timeout=300,
                env={**os.environ, "EMULATED_HIP_TARGET": target})
            self.assertEqual(done.returncode, 0, done.stderr)
            # There are no emulated kernels for gfx1100 in the stand-in: its own loader says so, after the right entry
            # of the bundle was handed to it.
            wanted = "computed" if target.startswith("gfx942") else "named symbol not found"
            self.assertIn(wanted, done.stdout, done.stderr)

    def test_a_choice_beside_the_code_objects_is_used_or_ignored_with_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(Path(OBJECTS) / "gfx1201" / "kernels.hsaco", folder)
            digest = hashlib.sha256(Path(TEXT).read_bytes()).hexdigest()
            good = (f"sage-tuning 1\nsource {digest}\ntarget gfx1201\ngpu Emulated GPU\n"
                    "choice d64 F16 LONG dense sage_attention_d64_F16_SHORT\nend\n")
            for text, told in ((good, "1 choice of tuning.txt"), (good[:-5], "tuning.txt is ignored: it is cut off"),
                               (good.replace("gfx1201", "gfx1200"), 'tuning.txt is ignored: it was measured on "gfx1200"')):
                (Path(folder) / "tuning.txt").write_text(text)
                status, handle, failure = make_context(folder)
                self.assertEqual(status, abi.OK, failure)
                self.assertIn(told, library.library().sage_context_tuning(handle).decode())
                self.assertEqual(library.library().sage_context_gpu_name(handle), b"Emulated GPU")
                self.check(handle, Half((1, 1, 16, 64), 1), Half((1, 1, 33, 64), 2), Half((1, 1, 33, 64), 3))
                library.library().sage_context_destroy(handle)

    def test_only_another_target(self):
        status, handle, text = make_context(Path(OBJECTS) / "other")
        self.assertIsNone(handle)
        self.assertIn("gfx1100", text)
        self.assertIn("gfx1201", text)
        self.assertNotEqual(status, abi.OK)

    def test_a_problem_that_the_library_refuses(self):
        status, handle, text = make_context(Path(OBJECTS) / "gfx1201")
        self.assertEqual(status, abi.OK, text)
        q, k, v = Half((1, 1, 16, 64), 1), Half((1, 1, 16, 64), 2), Half((1, 1, 16, 64), 3)
        q.shape = (1, 1, 16, 300)
        with self.assertRaisesRegex(errors.LibraryError, "head_dim"):
            attention(handle, q, k, v)
        library.library().sage_context_destroy(handle)

    def test_two_copies_in_one_process(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "libamdhip64.so.6"
            shutil.copy(HIP, copy)
            program = (
                "import ctypes, os, sys; import emulated_test as t\n"
                "t.Emulated.setUpClass()\n"
                f"other = ctypes.CDLL({str(copy)!r}); other.emulated_hip_launches.restype = ctypes.c_uint64\n"
                "print(t.make_context(t.Path(t.OBJECTS) / 'gfx1201')[2])\n"
                "status, handle, text = t.make_context(t.Path(t.OBJECTS) / 'gfx1201', runtime_path=os.fsencode(t.HIP))\n"
                "assert status == 0, text\n"
                "t.Emulated().check(handle, t.Half((1, 1, 16, 64), 1), t.Half((1, 1, 33, 64), 2), t.Half((1, 1, 33, 64), 3))\n"
                "print(t.Emulated.hip.emulated_hip_launches(), other.emulated_hip_launches())\n")
            done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                                  cwd=Path(__file__).parent, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 copies", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "4 0")


class Loading(unittest.TestCase):
    """What is said where the library is not what it should be."""

    def load(self, prepare):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "lib").mkdir()
            prepare(Path(folder) / "lib" / "libsage_attention.so.1")
            before = os.environ.get(paths.HOME_VARIABLE)
            os.environ[paths.HOME_VARIABLE] = folder
            try:
                with self.assertRaises(errors.LibraryError) as caught:
                    library._load()
            finally:
                os.environ.pop(paths.HOME_VARIABLE) if before is None else os.environ.update({paths.HOME_VARIABLE: before})
        return str(caught.exception)

    def compiled(self, text):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler")
        return lambda path: subprocess.run(
            [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)], input=text, text=True, check=True)

    def test_missing(self):
        text = self.load(lambda path: None)
        self.assertIn("is missing", text)
        self.assertIn("sage-doctor build --install", text)

    def test_no_library_at_all(self):
        self.assertIn("cannot be loaded", self.load(lambda path: path.write_text("text")))

    def test_another_library(self):
        self.assertIn("has no function sage_status_text", self.load(self.compiled("int x(void){return 0;}")))

    def test_of_another_version(self):
        functions = "".join(f"unsigned {name}(void){{return 0;}}" for name in abi.PROTOTYPES)
        self.assertIn("interface version 0", self.load(self.compiled(functions)))


if __name__ == "__main__":
    unittest.main()
