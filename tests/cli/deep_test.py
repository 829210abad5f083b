"""check --deep: what compilers and runtimes of Debian 12 really do, replay of it, and an interrupt that leaves nothing."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from binary import BARE_ENVIRONMENT, BINARY

HIPCC = "/usr/bin/hipcc"
CLANG_19 = shutil.which("clang++-19")
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
HIP_5_2 = LIBRARIES / "libamdhip64.so.5.2.21153"


def run_deep(*arguments, environment=None):
    """The report of check --deep --json."""
    finished = subprocess.run(
        [BINARY, "check", "--deep", "--json", "--no-redact", *map(str, arguments)],
        env=BARE_ENVIRONMENT if environment is None else environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert finished.returncode in (0, 1), finished.stderr
    return json.loads(finished.stdout)


def proofs_for(target):
    """By (resolved path of the compiler, source)."""
    compilations = run_deep("--target", target)["facts"]["proofs"]["compilations"]
    return {(os.path.realpath(proof["compiler"]), proof["source"]): proof for proof in compilations}


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


class Truths(unittest.TestCase):
    """Known truths of hipcc, hipRTC and comgr 5.2.3 and of clang 19."""

    @classmethod
    def setUpClass(cls):
        cls.known = {}

    def proof(self, compiler, source, target):
        if target not in self.known:
            self.known[target] = proofs_for(target)
        key = (os.path.realpath(compiler), source)
        self.assertIn(key, self.known[target], target)
        return self.known[target][key]

    def assert_built(self, compiler, source, target):
        proof = self.proof(compiler, source, target)
        self.assertIs(proof["built"], True, proof)
        self.assertEqual(proof["object_target"], target)
        self.assertEqual(proof["outcome"], "ok")

    def assert_refused(self, compiler, source, target, words, outcome="exit status 1"):
        proof = self.proof(compiler, source, target)
        self.assertIs(proof["built"], False, proof)
        self.assertEqual(proof["outcome"], outcome)
        self.assertIn(words, proof["message"])

    @unittest.skipUnless(os.path.exists(HIPCC) and HIP_5_2.exists(), "needs hipcc 5.2.3 (Debian 12: hipcc, libamdhip64-dev)")
    def test_hipcc(self):
        for target in ("gfx90a", "gfx1030"):
            self.assert_built(HIPCC, "freestanding", target)
            self.assert_built(HIPCC, "with-headers", target)
        self.assert_built(HIPCC, "freestanding", "gfx1100")
        self.assert_refused(HIPCC, "with-headers", "gfx1100", "cannot find ROCm device library")
        self.assert_refused(HIPCC, "freestanding", "gfx1201", "invalid target ID")
        self.assert_refused(HIPCC, "with-headers", "gfx1201", "invalid target ID")

    @unittest.skipUnless(CLANG_19 and shutil.which("ld.lld-19"), "needs clang-19 and lld-19")
    def test_clang_19(self):
        for target in ("gfx1100", "gfx1201", "gfx942"):
            self.assert_built(CLANG_19, "freestanding", target)

    @unittest.skipUnless(HIP_5_2.exists(), "needs libamdhip64 5.2.3 (Debian 12: libamdhip64-dev)")
    def test_hiprtc(self):
        self.assert_built(HIP_5_2, "freestanding", "gfx90a")
        self.assert_built(HIP_5_2, "with-headers", "gfx90a")
        self.assert_refused(HIP_5_2, "freestanding", "gfx1100", "does not list gfx1100", "not supported")

    @unittest.skipUnless((LIBRARIES / "libamd_comgr.so.2.4.0").exists(), "needs libamd_comgr 2.4 (Debian 12: libamd-comgr2)")
    def test_comgr(self):
        comgr = LIBRARIES / "libamd_comgr.so.2.4.0"
        self.assert_built(comgr, "freestanding", "gfx90a")
        self.assert_refused(comgr, "freestanding", "gfx1100", "does not list gfx1100", "not supported")

    @unittest.skipUnless(HIP_5_2.exists(), "needs libamdhip64 5.2.3 (Debian 12: libamdhip64-dev)")
    def test_the_runtime_is_loaded_and_asked(self):
        runtimes = run_deep("--target", "gfx1201")["facts"]["proofs"]["runtimes"]
        proof = next(proof for proof in runtimes if os.path.realpath(proof["library"]) == str(HIP_5_2))
        self.assertIs(proof["loaded"], True)
        self.assertEqual(proof["version"], "5.2.21153")
        if not os.path.exists("/dev/kfd"):
            self.assertEqual((proof["outcome"], proof["devices"]), ("ok", 0))


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
