"""The verdicts of sage-doctor toolchains against what the compilers of this machine really do.

Compiles for each target with each program that is found, freestanding and with HIP's header, and compares. What is not
installed is skipped with the reason.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from binary import main, run

TARGETS = ["gfx90a", "gfx1030", "gfx942", "gfx1100", "gfx1201"]

FREESTANDING = """
extern "C" __attribute__((global)) __attribute__((used)) void scale(float* values) {
  values[__builtin_amdgcn_workitem_id_x()] *= 2.0f;
}
"""
WITH_HEADERS = """
#include <hip/hip_runtime.h>
__global__ void scale(float* values) { values[threadIdx.x] = expf(values[threadIdx.x]); }
"""
FLAGS = ["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-O2", "-c"]

# Run in a process of its own: hipRTC 5.2 aborts on a target that it does not know.
HIPRTC = """
import ctypes, sys
library, target = sys.argv[1:]
rtc = ctypes.CDLL(library)
program = ctypes.c_void_p()
source = b'extern "C" __global__ void scale(float* v) { v[threadIdx.x] *= 2.0f; }'
assert rtc.hiprtcCreateProgram(ctypes.byref(program), source, b"k.hip", 0, None, None) == 0
options = (ctypes.c_char_p * 1)(b"--offload-arch=" + target.encode())
sys.exit(rtc.hiprtcCompileProgram(program, 1, options))
"""


def succeeds(arguments, folder):
    finished = subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=280, check=False)
    return finished.returncode == 0


class Real(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        (cls.path / "free.hip").write_text(FREESTANDING)
        (cls.path / "full.hip").write_text(WITH_HEADERS)
        cls.rows = {}
        for target in TARGETS:
            finished = run("toolchains", "--json", "--no-redact", "--target", target)
            assert finished.returncode == 0, finished.stderr
            cls.rows[target] = json.loads(finished.stdout)["compilers"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare(self, kinds, purpose, attempt):
        """Every verdict yes or no about `kinds` must be what `attempt(row, target)` gives."""
        compared = 0
        for target in TARGETS:
            for row in self.rows[target]:
                verdict = row[purpose]["can"]
                if row["kind"] not in kinds or verdict == "untried":
                    continue
                with self.subTest(compiler=row["path"], target=target, reason=row[purpose]["reason"]):
                    self.assertEqual("yes" if attempt(row, target) else "no", verdict)
                compared += 1
        if compared == 0:
            self.skipTest(f"none of {', '.join(kinds)} is installed here")

    def test_freestanding_kernels(self):
        def attempt(row, target):
            return succeeds([row["path"], *FLAGS, "-nogpulib", "-nogpuinc", f"--offload-arch={target}", "free.hip",
                             "-o", "free.o"], self.path)

        self.compare(["hipcc", "amdclang++", "clang++"], "kernels", attempt)

    def test_hip_programs(self):
        def attempt(row, target):
            # Without optimisation and the host's half it takes a few seconds less; what is asked for is there all the same.
            return succeeds([row["path"], *FLAGS, "-O0", f"--offload-arch={target}", "full.hip", "-o", "full.o"], self.path)

        self.compare(["hipcc", "amdclang++", "clang++"], "hip_programs", attempt)

    def test_hiprtc(self):
        def attempt(row, target):
            return succeeds([sys.executable, "-c", HIPRTC, row["path"], target], self.path)

        self.compare(["hipRTC"], "kernels", attempt)


if __name__ == "__main__":
    main()
