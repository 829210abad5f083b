"""sage-doctor build and test, as a user meets them: real compilers where there are any, and compilers that misbehave."""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

import jsonschema

from binary import BARE_ENVIRONMENT, BINARY, CAPTURES, SOURCE, run

SCHEMA = json.loads((SOURCE / "docs" / "build-schema.json").read_text())

CLANG = shutil.which("clang++-19")
TIMEOUT = 300


class Prefix(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.prefix = self.folder / "installed here, größer"

    def build(self, *arguments, environment=None):
        return subprocess.run([BINARY, "build", "--prefix", str(self.prefix), *map(str, arguments)],
                              env=BARE_ENVIRONMENT if environment is None else environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)

    def manifest(self):
        return json.loads((self.prefix / "current" / "manifest.json").read_text(encoding="utf-8"))


class Wishes(Prefix):
    def test_an_unknown_target_is_named_with_the_nearest(self):
        finished = self.build("--target", "gfx1202")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("there is no gfx target \"gfx1202\" (did you mean 'gfx", finished.stderr)
        self.assertFalse(self.prefix.exists())

    def test_a_target_without_kernels_says_what_works_there(self):
        for target, words in (("gfx1030", "no matrix instructions"), ("gfx906", "no matrix instructions"), ("gfx950", "aiter"),
                              ("gfx11-generic", "one GPU at a time"), ("sm_75", "sm_80")):
            finished = self.build("--target", target)
            self.assertEqual(finished.returncode, 1, target)
            self.assertIn(words, finished.stderr, target)

    def test_no_gpu_is_a_failure_with_a_way_out(self):
        finished = self.build("--dry-run", "--capture", CAPTURES / "no-gpu")
        self.assertEqual((finished.returncode, finished.stdout), (1, ""))
        self.assertIn("there is no AMD GPU here to build for", finished.stderr)
        self.assertIn("--target gfx1201", finished.stderr)

    def test_a_dry_run_prints_commands_and_makes_nothing(self):
        finished = self.build("--dry-run", "--capture", CAPTURES / "toolchain-debian12-clang19")
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        lines = finished.stdout.splitlines()
        self.assertEqual(len(lines), 17)
        self.assertTrue(all(line.startswith("/usr/bin/clang++-19 ") and "--offload-arch=gfx1201" in line for line in lines))
        self.assertFalse(self.prefix.exists())

    def test_a_capture_builds_nothing(self):
        finished = self.build("--capture", CAPTURES / "toolchain-debian12-clang19")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("--dry-run", finished.stderr)

    def test_without_a_home_the_prefix_has_to_be_named(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be somebody whom the user database does not know")
        finished = run("build", "--target", "gfx1201", environment={"PATH": os.environ["PATH"]}, user=54321)
        self.assertEqual(finished.returncode, 2)
        self.assertIn("name a folder with --prefix", finished.stderr)

    def test_a_compiler_that_is_not_there(self):
        finished = self.build("--target", "gfx1201", "--toolchain", "/nowhere/clang++")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("sage-doctor toolchains", finished.stderr)


class BadPrefix(Prefix):
    def refused(self, *words):
        finished = self.build("--target", "gfx1201")
        self.assertEqual(finished.returncode, 1, finished.stdout + finished.stderr)
        for word in words:
            self.assertIn(word, finished.stdout + finished.stderr)

    def test_it_is_a_file(self):
        self.prefix.write_text("", encoding="utf-8")
        self.refused("installed here", "--prefix")

    def test_somebody_elses(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a folder away")
        self.prefix.mkdir()
        os.chown(self.prefix, 12345, 12345)
        self.refused("12345")

    def test_read_only(self):
        if os.geteuid() == 0:
            self.prefix = pathlib.Path("/proc/sage-doctor")
        else:
            self.folder.chmod(0o500)
            self.addCleanup(self.folder.chmod, 0o700)
        self.refused("--prefix")


@unittest.skipUnless(CLANG, "needs clang++-19 (package clang-19)")
class RealClang(Prefix):
    def test_built_verified_tried_installed_and_then_nothing_to_do(self):
        first = self.build("--target", "gfx1201", "--toolchain", CLANG)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertEqual(first.stdout.splitlines()[-1], "built and verified statically, NOT executed on a GPU")
        self.assertIn("emulated gfx12", first.stdout)
        manifest = self.manifest()
        (target,) = manifest["targets"]
        self.assertEqual((target["target"], target["family"], len(target["kernels"])), ("gfx1201", "gfx12", 17))
        for kernel in target["kernels"]:
            self.assertEqual((kernel["origin"], kernel["executed_on"]), ("compiled", "none"))
            self.assertEqual((kernel["scratch_bytes"], kernel["spilled_registers"], kernel["warnings"]), (0, 0, []))
        self.assertTrue(all(row["passed"] and row["where"] == "emulated gfx12" for row in manifest["accuracy"]))
        self.assertGreaterEqual(len(manifest["accuracy"]), 8)

        installed = os.readlink(self.prefix / "current")
        second = self.build("--target", "gfx1201", "--toolchain", CLANG)
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertIn("Nothing to do", second.stdout)
        self.assertEqual(os.readlink(self.prefix / "current"), installed)

        # A damaged file is no installation; what is in the cache need not be compiled again.
        (self.prefix / "current" / "kernels" / "gfx1201-sage_prologue.hsaco").write_bytes(b"")
        tested = run("test", "--prefix", self.prefix)
        self.assertEqual(tested.returncode, 1)
        self.assertIn("sage_prologue", tested.stderr)
        third = self.build("--target", "gfx1201", "--toolchain", CLANG)
        self.assertEqual(third.returncode, 0, third.stderr)
        self.assertEqual({kernel["origin"] for kernel in self.manifest()["targets"][0]["kernels"]}, {"cached"})
        self.assertEqual(run("test", "--prefix", self.prefix).returncode, 0)

    def test_several_targets_in_json(self):
        finished = self.build("--target", "gfx1100,gfx942,gfx90a", "--json", "--no-redact")
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        document = json.loads(finished.stdout)
        jsonschema.Draft7Validator.check_schema(SCHEMA)
        jsonschema.validate(document, SCHEMA)
        self.assertEqual((document["state"], document["executed_on_gpu"]), ("installed", False))
        self.assertEqual([one["target"] for one in document["manifest"]["targets"]], ["gfx1100", "gfx942", "gfx90a"])
        self.assertEqual({row["where"] for row in document["manifest"]["accuracy"]},
                         {"emulated gfx11", "emulated gfx942", "emulated gfx90a"})
        # The library finds every kernel of a real installation by the folder alone.
        names = os.listdir(pathlib.Path(document["folder"]) / "kernels")
        self.assertEqual(len(names), 9 + 17 + 9)

    def test_a_gpu_that_has_to_be_there(self):
        document = json.loads(self.build("--target", "gfx1201", "--require-gpu", "--json").stdout)
        jsonschema.validate(document, SCHEMA)
        self.assertEqual((document["state"], document["manifest"]), ("failed", None))
        finished = self.build("--target", "gfx1201", "--require-gpu")
        self.assertEqual(finished.returncode, 1, finished.stdout)
        self.assertIn("nothing ran on the GPU", finished.stdout)
        self.assertIn("gpu.present", finished.stdout)
        self.assertFalse((self.prefix / "current").exists())
        # Nor does an installation that never ran on one satisfy it; that one stays as it is.
        self.assertEqual(self.build("--target", "gfx1201").returncode, 0)
        installed = os.readlink(self.prefix / "current")
        again = json.loads(self.build("--target", "gfx1201", "--require-gpu", "--json").stdout)
        self.assertEqual((again["state"], again["manifest"], again["folder"]), ("failed", None, None))
        self.assertIn("Not built.", self.build("--target", "gfx1201", "--require-gpu").stdout)
        self.assertEqual(os.readlink(self.prefix / "current"), installed)

    def test_into_a_python_environment_and_out_again(self):
        venv = self.folder / "venv"
        made = subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True, text=True, timeout=TIMEOUT)
        if made.returncode != 0:
            self.skipTest("this Python makes no virtual environments: " + made.stdout[-200:])
        python = venv / "bin" / "python3"
        (site,) = venv.glob("lib/python*/site-packages")
        before = sorted(site.iterdir())
        refused = self.build("--target", "gfx90a", "--install", "--python", python)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("there is no PyTorch in it", refused.stderr)

        torch = site / "torch"
        (torch / "lib").mkdir(parents=True)
        (torch / "__init__.py").write_text("", encoding="utf-8")
        version = torch / "version.py"
        version.write_text("__version__ = '2.9.0+cu130'\ncuda = '13.0'\nhip = None\n", encoding="utf-8")
        other = self.build("--target", "gfx90a", "--install", "--python", python)
        self.assertEqual(other.returncode, 1)
        self.assertIn("a build for CUDA", other.stderr)
        self.assertFalse(self.prefix.exists())

        version.write_text("__version__ = '2.9.0+rocm6.4'\ncuda = None\nhip = '6.4.43482'\n", encoding="utf-8")
        installed = self.build("--target", "gfx90a", "--install", "--python", python)
        self.assertEqual(installed.returncode, 0, installed.stdout + installed.stderr)
        self.assertIn("pip uninstall sage-doctor-attention", " ".join(installed.stdout.split()))
        package = site / "sage_doctor_attention"
        self.assertTrue((package / "lib" / "libsage_attention.so.1").exists())
        self.assertEqual(len(list((package / "kernels").iterdir())), 9)
        removed = subprocess.run([str(python), "-m", "pip", "uninstall", "-y", "sage-doctor-attention"], capture_output=True, text=True,
                                 timeout=TIMEOUT)
        self.assertEqual(removed.returncode, 0, removed.stderr)
        self.assertEqual(sorted(site.iterdir()), sorted([*before, torch]))

    def test_interrupted(self):
        process = subprocess.Popen([BINARY, "build", "--prefix", str(self.prefix), "--target", "gfx1201", "-j1"], env=BARE_ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("17 code objects", process.stderr.readline())
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("Interrupted", output)
        self.assertFalse((self.prefix / "current").exists())
        self.assertEqual(self.build("--target", "gfx1201").returncode, 0)

    def test_two_builds_at_once_wait_for_each_other(self):
        command = [BINARY, "build", "--prefix", str(self.prefix), "--target", "gfx90a"]
        first = subprocess.Popen(command, env=BARE_ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first.stderr.readline()
        second = subprocess.run(command, env=BARE_ENVIRONMENT, capture_output=True, text=True, timeout=TIMEOUT)
        first_output, _ = first.communicate(timeout=TIMEOUT)
        self.assertEqual((first.returncode, second.returncode), (0, 0))
        self.assertIn("Installed in", first_output)
        self.assertIn("another build", second.stderr)
        self.assertIn("Nothing to do", second.stdout)


def without(*hidden):
    """A command that runs another one on this machine as it would be without these files and folders; None where that
    can't be had."""
    steps = [f"mount -t tmpfs none {path}" if os.path.isdir(path) else f"mount --bind /dev/null {path}"
             for path in hidden if os.path.exists(path)]
    command = ["unshare", "--mount", "sh", "-c", " && ".join([*steps, 'exec "$@"']), "sh"]
    possible = os.geteuid() == 0 and shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if possible else None


NEW_CLANGS = [f"/usr/lib/llvm-{version}" for version in range(18, 26)] + ["/opt/rocm"]
OLD_CLANGS = [f"/usr/lib/llvm-{version}" for version in range(11, 18)]
HIPCC = "/usr/bin/hipcc"


class FewerCompilers(Prefix):
    def build_without(self, hidden, *arguments):
        command = without(*hidden)
        if command is None:
            self.skipTest("files can't be hidden from a process here: that needs root and mount namespaces")
        return subprocess.run([*command, BINARY, "build", "--prefix", str(self.prefix), *arguments], env=BARE_ENVIRONMENT,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)

    @unittest.skipUnless(os.path.exists(HIPCC), "needs hipcc (package hipcc)")
    def test_an_old_hipcc_alone_can_not_build_for_a_new_gpu(self):
        finished = self.build_without(NEW_CLANGS, "--target", "gfx1201")
        if finished.returncode == 0 and "prebuilt" in finished.stdout:
            self.skipTest("this program carries objects for gfx1201")
        self.assertEqual(finished.returncode, 1, finished.stdout)
        self.assertIn("/usr/bin/hipcc: clang 15", finished.stdout)
        self.assertIn("does not know gfx1201", " ".join(finished.stdout.split()))
        if pathlib.Path("/etc/debian_version").exists():
            self.assertIn("apt install clang", finished.stdout)

    def test_without_any_compiler_objects_made_beforehand_do(self):
        finished = self.build_without([*NEW_CLANGS, *OLD_CLANGS, HIPCC], "--target", "gfx1200")
        if "no prebuilt object" in finished.stdout:
            self.skipTest("this program carries no objects for gfx1200")
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        self.assertIn("made together with sage-doctor (prebuilt)", " ".join(finished.stdout.split()))
        (target,) = self.manifest()["targets"]
        self.assertEqual((target["toolchain"]["kind"], len(target["kernels"])), ("prebuilt", 17))
        self.assertEqual({kernel["origin"] for kernel in target["kernels"]}, {"prebuilt"})

    @unittest.skipUnless(os.path.exists("/usr/lib/x86_64-linux-gnu/libamdhip64.so"), "needs hipRTC (package libamdhip64-dev)")
    def test_without_any_compiler_program_hiprtc_builds_in_memory(self):
        finished = self.build_without([*NEW_CLANGS, *OLD_CLANGS, HIPCC], "--target", "gfx90a")
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        self.assertIn(self.manifest()["targets"][0]["toolchain"]["kind"], ("hipRTC", "comgr"))
        self.assertEqual(len(self.manifest()["targets"][0]["kernels"]), 9)


if __name__ == "__main__":
    unittest.main()
