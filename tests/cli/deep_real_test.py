"""check --deep on Debian 12: what its compilers and runtimes really do, and that the files told it before."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from binary import main, run, run_deep

HIPCC = "/usr/bin/hipcc"
CLANG_19 = shutil.which("clang++-19")
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
HIP_5_2 = LIBRARIES / "libamdhip64.so.5.2.21153"
ENUMERATOR = shutil.which("rocm_agent_enumerator")


def proofs_for(target):
    """By (resolved path of the compiler, source)."""
    compilations = run_deep("--target", target)["facts"]["proofs"]["compilations"]
    return {(os.path.realpath(proof["compiler"]), proof["source"]): proof for proof in compilations}


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

    @unittest.skipUnless(CLANG_19 and shutil.which("ld.lld-19"), "needs clang-19 and lld-19")
    def test_clang_19_needs_the_bundler_for_bundles_alone(self):
        """In a folder of links that has everything but clang-offload-bundler."""
        real = pathlib.Path(os.path.realpath(CLANG_19)).parent
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for name, program in (("clang++", "clang"), ("lld", "lld"), ("ld.lld", "lld")):
                (folder / name).symlink_to(real / program)
            (folder / "k.hip").write_text('extern "C" __attribute__((global)) void k(float* x) { *x = 1; }\n')
            flags = ["-no-canonical-prefixes", "-x", "hip", "--offload-device-only", "--offload-arch=gfx1100", "-nogpulib",
                     "-nogpuinc", "-c", folder / "k.hip", "-o", folder / "k.o"]
            bundled, plain = (subprocess.run([folder / "clang++", *flags, *more], env={"PATH": "/nonexistent"},
                                             capture_output=True, text=True, timeout=120)
                              for more in ([], ["--no-gpu-bundle-output"]))
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertEqual(bundled.returncode, 1, bundled.stderr)
        self.assertIn("clang-offload-bundler", bundled.stderr)

    @unittest.skipUnless(ENUMERATOR, "needs rocm_agent_enumerator (Debian 12: rocminfo)")
    @unittest.skipIf(os.path.exists("/sys/class/kfd"), "this machine has a KFD")
    def test_without_kfd_the_enumerator_dies_and_the_check_does_not(self):
        died = subprocess.run([ENUMERATOR], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(died.returncode, 0)
        self.assertIn("Traceback", died.stderr)
        report = json.loads(run("check", "--json").stdout)
        self.assertEqual(report["summary"]["error"], 0)

    @unittest.skipUnless(HIP_5_2.exists() and not os.path.exists("/dev/kfd"), "needs libamdhip64 5.2.3 and no GPU")
    def test_without_a_gpu_it_is_said_what_was_proved(self):
        findings = run_deep("--target", "gfx90a")["findings"]
        runtime = next(finding for finding in findings if finding["id"] == "proof.runtime")
        self.assertEqual((runtime["status"], runtime["blocked_by"]), ("info", None))
        self.assertIn("is not proved: there is no AMD GPU", runtime["observed"])
        self.assertIn("loads as HIP 5.2.21153", [row["value"] for row in runtime["evidence"]])


if __name__ == "__main__":
    main()
