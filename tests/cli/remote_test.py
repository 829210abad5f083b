"""Filesystems that may not answer: dead ones cost a deadline, and what nobody asked for is not looked at.

A preloaded library shows the binary a table of mounts, hangs on one of them for ever, and writes down who asked for
which path.
"""

import json
import os
import pathlib
import re
import tempfile
import time
import unittest

from binary import BARE_ENVIRONMENT, BINARY, run

FAKE_MACHINE = pathlib.Path(os.environ["SAGE_SHIMS"]) / "libfake_machine.so"
DEAD = "/dead-mount"
MOUNTS = f"""\
22 1 8:1 / / rw,relatime - ext4 /dev/root rw
23 22 0:21 / /proc rw - proc proc rw
24 22 0:22 / /sys rw - sysfs sysfs rw
25 22 0:5 / /dev rw - devtmpfs udev rw
30 22 0:40 / {DEAD} rw - nfs4 server:/home rw
31 22 0:41 / /mnt/c rw - 9p drvfs rw
"""
# What an answer may cost: the deadline of one child for the mount, and a slow machine.
PATIENCE = 30


class Remote(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.write("proc/self/mountinfo", MOUNTS)
        self.log = self.root / "log"

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_there(self, *arguments, **variables):
        """The finished process; its paths are in self.paths as (process, path)."""
        environment = {**BARE_ENVIRONMENT, "LD_PRELOAD": str(FAKE_MACHINE), "SAGE_FAKE_ROOT": str(self.root),
                       "SAGE_FAKE_DEAD": DEAD, "SAGE_FAKE_LOG": str(self.log),
                       "ASAN_OPTIONS": "verify_asan_link_order=0", **variables}
        self.log.unlink(missing_ok=True)
        started = time.monotonic()
        finished = run(*arguments, environment=environment)
        self.assertLess(time.monotonic() - started, PATIENCE, arguments)
        self.paths = [tuple(line.split(" ", 1)) for line in self.log.read_text().splitlines()]
        return finished

    def dead_paths(self):
        """Those below the dead mount, and which process asked."""
        main = self.paths[0][0]
        found = [(process, path) for process, path in self.paths if path.startswith(DEAD)]
        self.assertNotIn(main, {process for process, _ in found}, "it asked itself and not in a child")
        return found

    def test_inspect_of_a_file_on_a_dead_mount_ends(self):
        for options in ([], ["--json"]):
            finished = self.run_there("inspect", *options, f"{DEAD}/lib/libx.so")
            self.assertEqual((finished.returncode, finished.stdout), (2, ""))
            self.assertIn(f"{DEAD}", finished.stderr)
            self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
            self.assertTrue(self.dead_paths())

    def test_inspect_of_a_remote_file_that_answers_says_the_same(self):
        self.write("proc/self/mountinfo", MOUNTS.replace(DEAD, str(self.root)))
        path = self.root / "program"
        path.write_bytes(pathlib.Path(BINARY).read_bytes())
        there = self.run_there("inspect", "--json", "--no-redact", path)
        self.assertEqual(there.returncode, 0, there.stderr)
        self.assertEqual(json.loads(there.stdout), json.loads(run("inspect", "--json", "--no-redact", path).stdout))
        main = self.paths[0][0]
        self.assertNotIn((main, str(path)), self.paths)

    def test_libs_of_a_file_on_a_dead_mount_ends(self):
        finished = self.run_there("libs", f"{DEAD}/lib/libx.so")
        self.assertEqual(finished.returncode, 2)
        self.assertIn(DEAD, finished.stderr)
        self.assertTrue(self.dead_paths())

    def test_check_with_everything_on_a_dead_mount_ends_and_says_so(self):
        finished = self.run_there(
            "check", "--json", "--no-redact", HOME=f"{DEAD}/home/u", VIRTUAL_ENV=f"{DEAD}/venv",
            PYTHONPATH=f"{DEAD}/py", LD_LIBRARY_PATH=f"{DEAD}/lib", ROCM_PATH=f"{DEAD}/rocm", SPACK_ROOT=f"{DEAD}/spack",
            CONDA_PREFIX=f"{DEAD}/conda", PATH=f"{DEAD}/venv/bin:{os.environ['PATH']}")
        self.assertIn(finished.returncode, (0, 1), finished.stderr)
        report = json.loads(finished.stdout)
        self.assertEqual(report["summary"]["error"], 0)
        self.assertTrue(self.dead_paths())
        self.assertIn(f"{DEAD} does not answer", finished.stdout)

    def test_a_plain_check_looks_at_no_other_process_and_no_mount_that_nothing_names(self):
        self.write("proc/sys/kernel/osrelease", "6.6.87.2-microsoft-standard-WSL2\n")
        for command in (["check", "--json"], ["libs"], ["toolchains", "--target", "gfx1201"]):
            finished = self.run_there(*command)
            self.assertIn(finished.returncode, (0, 1), finished.stderr)
            self.assertGreater(len(self.paths), 50)
            wrong = [path for _, path in self.paths
                     if re.match(r"/proc/\d+(/|$)", path) or path.startswith((DEAD, "/mnt/c/"))]
            self.assertEqual(wrong, [], command)


if __name__ == "__main__":
    unittest.main()
