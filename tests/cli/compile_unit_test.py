"""sage-doctor internal compile-unit: one unit of the kernels through the real hipRTC and comgr of ROCm 5.2.3, in memory.

What is not installed is skipped with the reason.
"""

import pathlib
import subprocess
import tempfile
import unittest

from binary import SOURCE, run

LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
HIP = LIBRARIES / "libamdhip64.so.5"
COMGR = LIBRARIES / "libamd_comgr.so.2"


def compile_unit(folder, kind, library, target, unit, source=None):
    """The finished process and the path of its output."""
    output = folder / "out.hsaco"
    output.unlink(missing_ok=True)
    finished = run("internal", "compile-unit", "--kind", kind, "--compiler", library, "--target", target, "--unit", unit,
                   "--source", source or folder / "kernels.hip", "--output", output)
    return finished, output


class CompileUnit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name) / "with blank and ü"
        cls.folder.mkdir()
        script = SOURCE / "kernels" / "device" / "amalgamate.cmake"
        subprocess.run(["cmake", f"-DOUTPUT={cls.folder / 'kernels.hip'}", "-P", script], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def assert_built(self, kind, library):
        finished, output = compile_unit(self.folder, kind, library, "gfx90a", "sage_attention_d64_F16_LONG")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        inspected = run("inspect", output)
        self.assertIn("gfx90a", inspected.stdout)
        self.assertIn("sage_attention_d64_F16_LONG", inspected.stdout)
        self.assertNotIn("sage_attention_d64_F16_SHORT", inspected.stdout)
        self.assertNotIn("sage_quantise", inspected.stdout)

    def assert_refused(self, kind, library):
        finished, output = compile_unit(self.folder, kind, library, "gfx1201", "sage_prologue")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("does not list gfx1201", finished.stderr)
        self.assertFalse(output.exists())

    @unittest.skipUnless(HIP.exists(), "needs libamdhip64-5 5.2.3 (Debian 12)")
    def test_hiprtc(self):
        self.assert_built("hipRTC", HIP)

    @unittest.skipUnless(HIP.exists() and COMGR.exists(), "needs libamdhip64-5 and libamd-comgr2 5.2.3 (Debian 12)")
    def test_hiprtc_is_not_asked_for_a_target_on_which_it_aborts(self):
        self.assert_refused("hipRTC", HIP)

    @unittest.skipUnless(COMGR.exists(), "needs libamd-comgr2 5.2.3 (Debian 12)")
    def test_comgr(self):
        self.assert_built("comgr", COMGR)
        self.assert_refused("comgr", COMGR)

    @unittest.skipUnless(COMGR.exists(), "needs libamd-comgr2 5.2.3 (Debian 12)")
    def test_the_words_of_the_compiler_are_told(self):
        broken = self.folder / "broken.hip"
        broken.write_text('extern "C" __attribute__((global)) void kernel() { no_such_function(); }\n')
        finished, output = compile_unit(self.folder, "comgr", COMGR, "gfx90a", "sage_prologue", source=broken)
        self.assertEqual(finished.returncode, 1)
        self.assertIn("undeclared identifier 'no_such_function'", finished.stderr)
        self.assertFalse(output.exists())

    def test_bad_input(self):
        finished, _ = compile_unit(self.folder, "comgr", "/no/such/library.so", "gfx90a", "sage_prologue")
        self.assertEqual(finished.returncode, 1)
        self.assertIn("could not be loaded", finished.stderr)
        finished, _ = compile_unit(self.folder, "comgr", COMGR, "gfx90a", "sage_prologue", source="/no/such/source")
        self.assertEqual(finished.returncode, 1)
        self.assertIn("/no/such/source", finished.stderr)
        self.assertEqual(run("internal", "compile-unit", "--kind", "clang++").returncode, 2)


if __name__ == "__main__":
    unittest.main()
