"""Which runtime the package takes for torch's, where the process has several."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

import standin
from standin import torch

if torch is not None:
    import sage_doctor_attention as sage
    from sage_doctor_attention import abi, contexts, runtime

COMPILER = shutil.which("cc") or shutil.which("gcc")


@unittest.skipIf(torch is None, standin.WHY_NO_TORCH)
class Runtime(unittest.TestCase):
    def test_the_file_that_torch_is_linked_with(self):
        if COMPILER is None:
            self.skipTest("no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)

            def build(path, text, *more):
                path.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run([COMPILER, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), "-x", "none", *more],
                               input=text, text=True, check=True)

            hip = "int hipGetDevice(int* d) { *d = 0; return 0; }"
            build(place / "opt" / "libamdhip64.so.6", hip)
            build(place / "torch" / "lib" / "libamdhip64.so", hip, "-Wl,-soname,libamdhip64.so.7")
            os.symlink("libamdhip64.so", place / "torch" / "lib" / "libamdhip64.so.7")
            build(place / "torch" / "lib" / "libc10_hip.so",
                  "int hipGetDevice(int*); int c10(void) { int d; return hipGetDevice(&d); }",
                  str(place / "torch" / "lib" / "libamdhip64.so"), "-Wl,-rpath,$ORIGIN")
            # The system's copy comes first, as after a look at rocminfo's libraries.
            program = (
                "import ctypes, sys, types, unittest.mock, standin, torch\n"
                "from sage_doctor_attention import runtime\n"
                f"ctypes.CDLL({str(place / 'opt' / 'libamdhip64.so.6')!r}, mode=ctypes.RTLD_GLOBAL)\n"
                f"place = {str(place / 'torch')!r}\n"
                "fake = types.SimpleNamespace(__file__=place + '/__init__.py')\n"
                "with unittest.mock.patch.object(runtime, 'HIP', '7.1'), unittest.mock.patch.object(runtime, 'torch', fake):\n"
                "    print(runtime.torch_runtime_path())\n"
                "    ctypes.CDLL(place + '/lib/libc10_hip.so')\n"
                "    print(runtime.torch_runtime_path().decode())\n"
                "print(len(runtime.mapped_files(('libamdhip64',))))\n")
            done = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", program], capture_output=True, text=True,
                                  cwd=Path(__file__).parent)
            self.assertEqual(done.returncode, 0, done.stderr)
            first, second, copies = done.stdout.split()
            self.assertEqual(first, "None")
            self.assertTrue(os.path.samefile(second, place / "torch" / "lib" / "libamdhip64.so"), second)
            self.assertEqual(copies, "2")

    def test_a_torch_for_cuda_names_no_hip(self):
        with unittest.mock.patch.object(runtime, "HIP", None):
            self.assertIsNone(runtime.torch_runtime_path())
            self.assertEqual(runtime.api(), abi.API_CUDA)

    def test_why_there_is_no_gpu(self):
        class Gpus:
            found = False

            @classmethod
            def is_available(cls):
                return cls.found

        fake = types.SimpleNamespace(__version__="2.9", cuda=Gpus)
        with unittest.mock.patch.object(runtime, "torch", fake):
            for hip, cuda, text in ((None, None, "build for the CPU"), ("7.1", None, "for ROCm\\) sees no GPU"),
                                    (None, "13.0", "for CUDA\\) sees no GPU")):
                with unittest.mock.patch.object(runtime, "HIP", hip), unittest.mock.patch.object(runtime, "CUDA", cuda):
                    self.assertRegex(runtime.why_no_gpu(), text)
                    with self.assertRaisesRegex(sage.LibraryError, text):
                        runtime.require_gpu()
            Gpus.found = True
            with unittest.mock.patch.object(runtime, "HIP", "7.1"):
                self.assertIsNone(runtime.why_no_gpu())

    def test_cuda_contexts_of_a_thread(self):
        if COMPILER is None:
            self.skipTest("no C compiler")
        text = ("int last, current; int cuDevicePrimaryCtxRetain(void** c, int d) { last = d; *c = (void*)4096; return d == 9 ? 101 : 0; }"
                "int cuCtxSetCurrent(void* c) { current = c == (void*)4096; return 0; }")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "libcuda.so.1"
            subprocess.run([COMPILER, "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)], input=text, text=True, check=True)
            with unittest.mock.patch.object(runtime, "HIP", None):
                # It is never loaded, only found.
                with self.assertRaises(OSError):
                    runtime.make_current(0, str(path))
                driver = ctypes.CDLL(str(path))
                runtime.make_current(3, str(path))
                self.assertEqual(ctypes.c_int.in_dll(driver, "last").value, 3)
                self.assertEqual(ctypes.c_int.in_dll(driver, "current").value, 1)
                with self.assertRaisesRegex(sage.LibraryError, "device 9.*error 101"):
                    runtime.make_current(9, str(path))

    def test_capture_before_the_kernels_are_loaded(self):
        with unittest.mock.patch.object(runtime, "require_gpu"), unittest.mock.patch.object(contexts, "library"), \
                unittest.mock.patch.object(torch.cuda, "is_current_stream_capturing", lambda: True):
            with self.assertRaisesRegex(sage.LibraryError, "warmup\\(\\)"):
                contexts.context(0)


if __name__ == "__main__":
    standin.main()
