"""check --deep: an interrupt that leaves nothing, and replay of what was proved. No package is needed for it."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from binary import BARE_ENVIRONMENT, BINARY, run_deep


def processes_with(text):
    """Numbers of the processes whose environment holds `text`."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and text.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def wait_until(condition, what):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(what)


class Deep(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        (self.scratch / "bin").mkdir()
        (self.scratch / "tmp").mkdir()
        self.temporary = self.scratch / "tmp"
        # Nothing but our own hipcc; what its script runs is named by its path.
        self.environment = {**BARE_ENVIRONMENT, "PATH": str(self.scratch / "bin"), "TMPDIR": str(self.temporary)}

    def put_hipcc(self, script):
        path = self.scratch / "bin" / "hipcc"
        path.write_text("#!/bin/sh\nPATH=/usr/bin:/bin\n" + script)
        path.chmod(0o755)

    def test_without_deep_nothing_is_run(self):
        self.put_hipcc(f"touch {self.scratch}/was-run\n")
        report = subprocess.run([BINARY, "check", "--json", "--target", "gfx1201"], env=self.environment,
                                capture_output=True, text=True, timeout=120)
        proofs = json.loads(report.stdout)["facts"]["proofs"]
        self.assertEqual(proofs["compilations"], {"unknown": "needs --deep"})
        self.assertFalse((self.scratch / "was-run").exists())

    def test_a_capture_replays_the_proofs(self):
        self.put_hipcc("echo \"clang: error: invalid target ID 'gfx1201'\" >&2; exit 1\n")
        capture = self.scratch / "capture"
        written = subprocess.run([BINARY, "capture", capture, "--deep", "--target", "gfx1201", "--no-redact"],
                                 env=self.environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(written.returncode, 0, written.stderr)
        # The replay must not run anything.
        (self.scratch / "bin" / "hipcc").unlink()
        replayed = run_deep("--target", "gfx1201", "--capture", capture, environment=self.environment)
        ours = [proof for proof in replayed["facts"]["proofs"]["compilations"]
                if proof["compiler"] == str(self.scratch / "bin" / "hipcc")]
        self.assertEqual(len(ours), 2)
        for proof in ours:
            self.assertEqual(proof["message"], "invalid target ID 'gfx1201'")

    def test_an_interrupt_leaves_no_process_and_no_file(self):
        self.put_hipcc(f"echo x > kernel.tmp\nsleep 3000 &\nsetsid sleep 3000 &\ntouch {self.scratch}/started\nwait\n")
        process = subprocess.Popen([BINARY, "check", "--deep", "--target", "gfx1201"], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until((self.scratch / "started").exists, "the compiler was not started")
        self.assertNotEqual(list(self.temporary.iterdir()), [])
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)
        wait_until(lambda: not processes_with(str(self.temporary)), "processes are left")
        wait_until(lambda: not list(self.temporary.iterdir()), "files are left")

    def test_a_target_that_is_none_is_refused(self):
        for target in ("9070", "gfx12 01", "gfx1201;rm", "-O3"):
            finished = subprocess.run([BINARY, "check", f"--target={target}"], env=self.environment,
                                      capture_output=True, text=True, timeout=60)
            self.assertEqual(finished.returncode, 2, target)
            self.assertEqual(finished.stdout, "")


if __name__ == "__main__":
    unittest.main()
