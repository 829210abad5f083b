"""sage-doctor libs: the copies on a machine, what processes get, and the tree of one file."""

import json
import pathlib
import tempfile
import unittest

from binary import BARE_ENVIRONMENT, CAPTURES, run

SITE = "/home/user1/venv/lib/python3.12/site-packages"
EXTENSION = f"{SITE}/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so"


class Libs(unittest.TestCase):
    def test_copies_and_predictions_of_a_machine(self):
        finished = run("libs", "--capture", CAPTURES / "libs-extension-other-hip")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("  /opt/rocm-6.4.1/lib/libamdhip64.so.6\n      ROCm 6.4.1, rocm-root, SONAME libamdhip64.so.6\n",
                      finished.stdout)
        self.assertIn("SECOND COPY /opt/rocm-6.4.1/lib/libamdhip64.so.6", finished.stdout)
        self.assertNotIn("\033", finished.stdout)
        for line in finished.stdout.splitlines():
            self.assertTrue(len(line) <= 80 or " " not in line.strip(), line)

    def test_the_same_as_json(self):
        finished = run("libs", "--json", "--capture", CAPTURES / "libs-extension-other-hip")
        libraries = json.loads(finished.stdout)["libraries"]
        scenarios = [row["scenario"] for row in libraries["predictions"]]
        self.assertIn("torch", scenarios)
        self.assertIn("torch-then-extension", scenarios)

    def test_the_tree_of_a_file_of_a_capture(self):
        finished = run("libs", "--capture", CAPTURES / "libs-extension-other-hip", "--program",
                       "/home/user1/venv/bin/python3", f"{SITE}/torch/lib/libtorch_hip.so", "--then", EXTENSION)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("libamdhip64.so.6 -> /opt/rocm-6.4.1/lib/libamdhip64.so.6", finished.stdout)
        self.assertIn("SECOND COPY of libamdhip64", finished.stdout)
        self.assertIn("already loaded, its SONAME is this", finished.stdout)

    def test_what_is_missing_stands_out(self):
        finished = run("libs", "--capture", CAPTURES / "libs-extension-without-runtime", EXTENSION)
        self.assertIn("libamdhip64.so.6 NOT FOUND: nothing leads to it", finished.stdout)

    def test_a_file_that_is_no_library_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text.so"
            path.write_text("not a library")
            finished = run("libs", path)
            self.assertEqual(finished.returncode, 2)
            self.assertIn("not an ELF file", finished.stderr)
            self.assertEqual(run("libs", path.with_name("none.so")).returncode, 2)

    def test_json_is_redacted_unless_asked(self):
        environment = {**BARE_ENVIRONMENT, "LD_LIBRARY_PATH": ""}
        with tempfile.TemporaryDirectory() as folder:
            environment["HOME"] = folder
            link = pathlib.Path(folder) / "libc.so.6"
            link.symlink_to(next(path for path in map(pathlib.Path, self.mapped_libc()) if path.exists()))
            plain = run("libs", "--json", "--no-redact", link, environment=environment).stdout
            self.assertIn(folder, plain)
            self.assertNotIn(folder, run("libs", "--json", link, environment=environment).stdout)

    @staticmethod
    def mapped_libc():
        with open("/proc/self/maps") as maps:
            return [line.split()[-1] for line in maps if "libc.so" in line or "libc-" in line]


if __name__ == "__main__":
    unittest.main()
