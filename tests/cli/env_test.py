"""sage-doctor env and sage-doctor run, as a user meets them."""

import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from binary import BARE_ENVIRONMENT, BINARY, CAPTURES, run, run_on_terminal

WSL = CAPTURES / "wsl2-variable-missing"
NOTHING = "capture_version = 1\n"


class Folder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.nothing = self.folder / "nothing"
        self.nothing.mkdir()
        (self.nothing / "capture.toml").write_text(NOTHING, encoding="utf-8")


class Env(Folder):
    def test_the_shell_comes_from_the_option_or_the_environment(self):
        for path, language in (("/usr/bin/fish", "fish"), ("/bin/tcsh", "csh"), ("/bin/bash", "bash"),
                               ("/bin/mksh", "sh")):
            finished = run("env", "--capture", WSL, environment={**BARE_ENVIRONMENT, "SHELL": path})
            self.assertEqual((finished.returncode, finished.stderr), (0, ""))
            self.assertIn(f" for {language}.", finished.stdout)
        finished = run("env", "--capture", WSL, environment={**BARE_ENVIRONMENT, "SHELL": "/bin/nologin"})
        self.assertIn(" for sh.", finished.stdout)
        self.assertIn("/bin/nologin is not known", finished.stderr)
        unknown = run("env", "--capture", WSL, "--shell", "fisch")
        self.assertEqual((unknown.returncode, unknown.stdout), (2, ""))
        self.assertIn("did you mean 'fish'", unknown.stderr)

    def test_the_header_tells_what_it_is_and_what_it_mends(self):
        script = run("env", "--capture", WSL, "--shell", "bash").stdout
        self.assertIn("# Tier: runtime only", script)
        self.assertIn("# Mends wsl.dxg-detection-off (/opt/rocm-7.2.1/lib/libhsa-runtime64.so.1).", script)
        self.assertIn("\n# Made from:\n# sage-doctor-env/1,", script)
        self.assertIn("# Sets HSA_ENABLE_DXG_DETECTION, with the reasons below.", script)
        self.assertIn("sage_doctor_set HSA_ENABLE_DXG_DETECTION '1'", script)

    def test_a_terminal_gets_a_hint_and_a_file_does_not(self):
        controller, terminal = os.openpty()
        process = subprocess.run([BINARY, "env", "--capture", WSL, "--shell", "sh"], stdout=terminal,
                                 stderr=subprocess.PIPE, env=BARE_ENVIRONMENT, timeout=60, check=True)
        os.close(terminal)
        os.close(controller)
        self.assertIn(b"sage-doctor env > env_amd.sh", process.stderr)
        self.assertIn("sage_doctor_set", run_on_terminal("env", "--capture", WSL, "--shell", "sh"))

    def test_json_is_json(self):
        document = json.loads(run("env", "--capture", WSL, "--shell", "json").stdout)
        self.assertEqual(document["env_version"], 1)
        self.assertEqual(document["settings"][0]["variable"], "HSA_ENABLE_DXG_DETECTION")

    def test_a_file_is_written_whole_or_not_at_all(self):
        file = self.folder / "env_amd.sh"
        self.assertEqual(run("env", "--capture", WSL, "--shell", "sh", "-o", file).stdout, "")
        first = file.read_text(encoding="utf-8")
        self.assertEqual(stat.S_IMODE(file.stat().st_mode) & 0o111, 0)
        file.chmod(0o600)
        self.assertEqual(run("env", "--capture", WSL, "--shell", "fish", "-o", file).returncode, 0)
        self.assertNotEqual(file.read_text(encoding="utf-8"), first)
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        before = file.read_text(encoding="utf-8")
        failed = run("env", "--capture", self.nothing, "--shell", "sh", "-o", file)
        self.assertEqual((failed.returncode, failed.stdout), (1, ""))
        self.assertIn("was left as it is", failed.stderr)
        self.assertEqual(file.read_text(encoding="utf-8"), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["env_amd.sh", "nothing"])
        self.assertEqual(run("env", "--capture", WSL, "--shell", "sh", "-o", self.folder / "no" / "f").returncode, 2)
        self.assertEqual(run("env", "--capture", WSL, "--shell", "sh", "-o", self.folder).returncode, 2)

    def test_a_file_that_cannot_be_finished_leaves_the_old_one(self):
        file = self.folder / "env_amd.sh"
        file.write_text("old\n", encoding="utf-8")

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        failed = run("env", "--capture", WSL, "--shell", "sh", "-o", file, preexec_fn=small_files)
        self.assertEqual((failed.returncode, failed.stdout), (2, ""))
        self.assertIn(f"cannot write {file}", failed.stderr)
        self.assertEqual(file.read_text(encoding="utf-8"), "old\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["env_amd.sh", "nothing"])

    def test_a_file_is_replaced_in_one_step_and_a_link_to_it_stays(self):
        file, link = self.folder / "env_amd.sh", self.folder / "link"
        file.write_text("old\n", encoding="utf-8")
        link.symlink_to("env_amd.sh")
        with open(file, encoding="utf-8") as reader:
            self.assertEqual(run("env", "--capture", WSL, "--shell", "sh", "-o", link).returncode, 0)
            # Who has the old one open reads it to its end: it was not written over.
            self.assertEqual(reader.read(), "old\n")
        self.assertTrue(link.is_symlink())
        self.assertIn("sage_doctor_deactivate", file.read_text(encoding="utf-8"))

    def test_a_closed_stdout_is_an_error(self):
        finished = subprocess.run(["sh", "-c", 'exec "$0" env --capture "$1" --shell sh >&-', BINARY, WSL],
                                  stderr=subprocess.PIPE, env=BARE_ENVIRONMENT, timeout=60, check=False)
        self.assertEqual(finished.returncode, 2)
        self.assertIn(b"stdout is closed", finished.stderr)

    def test_the_same_machine_gives_the_same_script_whatever_its_memory_does(self):
        busy = self.folder / "busy"
        busy.mkdir()
        for name in ("healthy-9070xt", "venv-rocm72", "env-rocm-outside-path"):
            shutil.copytree(CAPTURES / name, self.folder / name)
        (busy / "capture.toml").write_text(
            'capture_version = 1\nextends = "env-rocm-outside-path"\n\n[path."/proc/meminfo"]\ntext = """\n'
            'MemTotal: 16000000 kB\nMemAvailable: @ kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"""\n', encoding="utf-8")
        scripts = set()
        text = (busy / "capture.toml").read_text(encoding="utf-8")
        for free in ("15000000", "9000000", "100000"):
            (busy / "capture.toml").write_text(text.replace("@", free), encoding="utf-8")
            scripts.add(run("env", "--capture", busy, "--shell", "sh").stdout)
        self.assertEqual(len(scripts), 1)
        script = scripts.pop()
        self.assertIn("sage_doctor_set MAX_JOBS '4'", script)
        # Not even another amount of memory makes it stale: that would not be wrong, only slow.
        file = self.folder / "file"
        file.write_text(script, encoding="utf-8")
        more = run("env", "--check", file, "--capture", CAPTURES / "env-rocm-outside-path")
        self.assertEqual((more.returncode, more.stdout), (0, f"{file}: fresh\n"))

    def test_an_override_of_the_user_stays_and_code_is_built_for_it(self):
        capture = self.folder / "override"
        capture.mkdir()
        for name in ("healthy-9070xt", "venv-rocm72", "env-rocm-outside-path"):
            shutil.copytree(CAPTURES / name, self.folder / name)
        (capture / "capture.toml").write_text(
            'capture_version = 1\nextends = "env-rocm-outside-path"\n'
            '[environment]\nHSA_OVERRIDE_GFX_VERSION = "11.0.0"\n',
            encoding="utf-8")
        script = run("env", "--capture", capture, "--shell", "sh").stdout
        self.assertIn("HSA_OVERRIDE_GFX_VERSION=11.0.0 is your own and stays", script)
        self.assertIn("sage_doctor_set PYTORCH_ROCM_ARCH 'gfx1100'", script)
        self.assertNotIn("sage_doctor_set HSA_OVERRIDE_GFX_VERSION", script)

    def test_what_the_user_names_has_to_be_there(self):
        """Exact words, and the way out: what there is instead."""
        found = "; found: /opt/rocm-7.2.0/bin/hipcc, /opt/rocm-7.2.0/lib/llvm/bin/clang++"
        capture = ("--capture", CAPTURES / "env-rocm-outside-path")
        for options, words in (
                ((*capture, "--toolchain", "hipc"), "there is no compiler hipc" + found),
                ((*capture, "--toolchain", "/nope/bin/hipcc"), "there is no compiler /nope/bin/hipcc" + found),
                ((*capture, "--root", "/opt/rocm-6.4"), "there is no compiler in /opt/rocm-6.4" + found),
                ((*capture, "--override-gfx", "gfx1100"),
                 '--override-gfx wants a version such as 11.0.0, not "gfx1100"'),
                (("--python", "/nope"),
                 "--python wants an interpreter or the folder of an environment: /nope: no such file"),
                (("--python", self.folder), f"environment: {self.folder}: no bin/python3 in it"),
                (("--python", "/etc/passwd"), "--python /etc/passwd is no program: name an interpreter"),
                (("--root", "/gone\x1b[31m"), "there is no compiler in /gone\\x1b[31m; ")):
            with self.subTest(options=options):
                finished = run("env", "--shell", "sh", *options)
                self.assertEqual(finished.returncode, 1)
                self.assertIn("sage-doctor: error: ", finished.stderr)
                self.assertIn(words, finished.stderr)
                self.assertEqual(finished.stdout.count("\n"), 1)

    def test_triton_is_led_to_the_runtime_of_pytorch(self):
        elsewhere = ("env", "--capture", CAPTURES / "env-triton-elsewhere", "--shell", "sh")
        self.assertIn("# TRITON_LIBHIP_PATH keeps your own value", run(*elsewhere).stdout)
        script = run(*elsewhere, "--force").stdout
        self.assertIn("sage_doctor_force TRITON_LIBHIP_PATH '/home/user1/venv/lib/python3.12/site-packages/torch/lib/"
                      "libamdhip64.so'", script)
        self.assertIn("Mends libs.two-runtimes", script)

    def test_a_failing_line_sets_nothing(self):
        for language in ("github", "dotenv", "docker"):
            finished = run("env", "--capture", CAPTURES / "healthy-9070xt", "--shell", language,
                           "--override-gfx", "10.3.0")
            self.assertEqual(finished.returncode, 1)
            self.assertNotIn("=", finished.stdout)
            self.assertNotIn("<<", finished.stdout)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            finished = run("env", "--capture", WSL, "--shell", "sh", stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(finished.returncode, 2)
        self.assertIn("no space left", finished.stderr)

    def test_what_is_not_there_fails_with_a_line_that_fails(self):
        for options in (("--root", "/opt/rocm-gone"), ("--toolchain", "/opt/rocm-gone/bin/hipcc")):
            finished = run("env", "--capture", WSL, "--shell", "sh", *options)
            self.assertEqual(finished.returncode, 1)
            self.assertEqual(finished.stdout.count("\n"), 1)
            sourced = subprocess.run(["sh", "-c", finished.stdout], capture_output=True, text=True, check=False)
            self.assertNotEqual(sourced.returncode, 0)
            self.assertIn("/opt/rocm-gone", sourced.stderr)

    def test_an_override_is_set_only_when_asked_for_and_sound(self):
        native = CAPTURES / "healthy-9070xt"
        refused = run("env", "--capture", native, "--shell", "sh", "--override-gfx", "10.3.0")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("env.override-mismatch", refused.stderr)
        forced = run("env", "--capture", native, "--shell", "sh", "--override-gfx", "10.3.0", "--force")
        self.assertEqual(forced.returncode, 0)
        self.assertIn("Code for it may\n# crash", forced.stdout)
        self.assertEqual(run("env", "--capture", native, "--shell", "sh", "--override-gfx", "gfx1100").returncode, 1)

    def test_fresh_and_stale(self):
        file = self.folder / "env_amd.sh"
        for language in ("sh", "fish", "csh", "powershell", "dotenv", "github", "docker", "json", "modulefile"):
            run("env", "--capture", CAPTURES / "venv-rocm72", "--shell", language, "-o", file)
            fresh = run("env", "--check", file, "--capture", CAPTURES / "venv-rocm72")
            self.assertEqual((fresh.returncode, fresh.stdout), (0, f"{file}: fresh\n"), language)
            stale = run("env", "--check", file, "--capture", CAPTURES / "healthy-9070xt")
            self.assertEqual(stale.returncode, 1)
            self.assertIn("PyTorch was 2.9.1+rocm7.2 and is gone", stale.stdout)
        file.write_text("echo hello\n", encoding="utf-8")
        self.assertEqual(run("env", "--check", file).returncode, 2)
        self.assertEqual(run("env", "--check", self.folder / "gone").returncode, 2)


class Run(Folder):
    def command(self, *words, capture=WSL, options=(), **keywords):
        return run("run", "--capture", capture, *options, "--", *words, **keywords)

    def test_the_command_gets_the_environment_and_its_words_as_they_are(self):
        words = 'echo "$HSA_ENABLE_DXG_DETECTION"; printf "%s|" "$@"'
        finished = self.command("sh", "-c", words, "sh", "--", "-x", "a b", "")
        self.assertEqual((finished.returncode, finished.stdout), (0, "1\n--|-x|a b||"))

    def test_other_variables_pass_through(self):
        own = {"SECRET": "a\nb", "HSA_ENABLE_DXG_DETECTION": ""}
        finished = self.command("env", environment={**BARE_ENVIRONMENT, **own})
        self.assertIn("SECRET=a\nb\n", finished.stdout)
        self.assertIn("HSA_ENABLE_DXG_DETECTION=1\n", finished.stdout)

    def test_status_and_signal_are_those_of_the_command(self):
        self.assertEqual(self.command("sh", "-c", "exit 42").returncode, 42)
        self.assertEqual(self.command("sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)
        # SIGPIPE is the command's again.
        self.assertEqual(self.command("sh", "-c", "kill -PIPE $$").returncode, -signal.SIGPIPE)

    def test_the_command_takes_the_process_over(self):
        """One process from first to last: what ends the command ends with its signal, and nothing is added to it."""
        facts = 'echo $$; umask; pwd; grep -E "^(Sig|Shd)(Blk|Ign|Cgt)" /proc/self/status; ls /proc/self/fd; ulimit -a'
        plain = subprocess.Popen(["sh", "-c", facts], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        other = subprocess.Popen([BINARY, "run", "--capture", WSL, "--", "sh", "-c", facts], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, text=True)
        expected, seen = plain.communicate(timeout=60)[0].splitlines(), other.communicate(timeout=60)[0].splitlines()
        self.assertEqual(seen[0], str(other.pid))
        self.assertEqual(seen[1:], expected[1:])

    def test_signals_reach_the_command(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            with self.subTest(signal=number):
                process = subprocess.Popen([BINARY, "run", "--capture", WSL, "--", "sh", "-c",
                                            "echo ready; exec sleep 60"],
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
                self.assertEqual(process.stdout.readline(), b"ready\n")
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), -number)
                process.stdout.close()
        trapping = 'trap "exit 7" TERM; echo ready; while :; do sleep 0.05; done'
        process = subprocess.Popen([BINARY, "run", "--capture", WSL, "--", "sh", "-c", trapping],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 7)
        process.stdout.close()

    def test_the_program_is_looked_for_in_the_path_that_it_gets(self):
        tree = self.folder / "rocm"
        for name in ("bin/hipcc", "lib/llvm/bin/clang++", "lib/llvm/bin/ld.lld", "lib/llvm/lib/clang/20/x",
                     "include/hip/hip_runtime.h", "include/hip/hip_version.h", "amdgcn/bitcode/ocml.bc",
                     "amdgcn/bitcode/ockl.bc"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text("#!/bin/sh\necho mine\n", encoding="utf-8")
        (tree / "bin/hipcc").chmod(0o755)
        finished = run("run", "--root", tree, "--", "hipcc", environment={**BARE_ENVIRONMENT, "PATH": "/usr/bin:/bin"})
        self.assertEqual((finished.returncode, finished.stdout), (0, "mine\n"))

    def test_errors_are_those_of_env(self):
        self.assertEqual(self.command("no-such-program-here").returncode, 127)
        plain = self.folder / "plain"
        plain.write_text("", encoding="utf-8")
        self.assertEqual(self.command(str(plain)).returncode, 126)
        self.assertEqual(self.command("true", capture=self.nothing).returncode, 125)
        self.assertEqual(self.command("/").returncode, 126)
        self.assertEqual(self.command("").returncode, 127)
        self.assertEqual(run("run", "--toolchain", "nope", "--", "true").returncode, 125)
        self.assertEqual(run("run", "--python", "/nope", "--", "true").returncode, 125)
        self.assertEqual(run("run", "--bogus", "--", "true").returncode, 125)
        self.assertEqual(run("run", "true").returncode, 125)
        self.assertEqual(run("run", "--capture", WSL, "--").returncode, 125)

    def test_nested_runs_take_back_what_the_outer_one_has_set(self):
        finished = self.command(BINARY, "run", "--capture", WSL, "--", "env")
        names = [line for line in finished.stdout.splitlines() if line.startswith("SAGE_DOCTOR_ENV_NAMES=")]
        self.assertEqual(names, ["SAGE_DOCTOR_ENV_NAMES=HSA_ENABLE_DXG_DETECTION"])


if __name__ == "__main__":
    unittest.main()
