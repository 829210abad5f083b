"""sage-doctor env and sage-doctor run, as a user meets them."""

import json
import os
import pathlib
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
        for path, language in (("/usr/bin/fish", "fish"), ("/bin/tcsh", "csh"), ("/bin/bash", "bash"), ("/bin/mksh", "sh")):
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
        self.assertIn("# Made from: sage-doctor-env/1,", script)
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
        self.assertIn("may crash", forced.stdout)
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
        finished = self.command("sh", "-c", 'echo "$HSA_ENABLE_DXG_DETECTION"; printf "%s|" "$@"', "sh", "--", "-x", "a b", "")
        self.assertEqual((finished.returncode, finished.stdout), (0, "1\n--|-x|a b||"))

    def test_other_variables_pass_through(self):
        finished = self.command("env", environment={**BARE_ENVIRONMENT, "SECRET": "a\nb", "HSA_ENABLE_DXG_DETECTION": ""})
        self.assertIn("SECRET=a\nb\n", finished.stdout)
        self.assertIn("HSA_ENABLE_DXG_DETECTION=1\n", finished.stdout)

    def test_status_and_signal_are_those_of_the_command(self):
        self.assertEqual(self.command("sh", "-c", "exit 42").returncode, 42)
        self.assertEqual(self.command("sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)
        # SIGPIPE is the command's again.
        self.assertEqual(self.command("sh", "-c", "kill -PIPE $$").returncode, -signal.SIGPIPE)

    def test_errors_are_those_of_env(self):
        self.assertEqual(self.command("no-such-program-here").returncode, 127)
        plain = self.folder / "plain"
        plain.write_text("", encoding="utf-8")
        self.assertEqual(self.command(str(plain)).returncode, 126)
        self.assertEqual(self.command("true", capture=self.nothing).returncode, 125)
        self.assertEqual(run("run", "true").returncode, 125)
        self.assertEqual(run("run", "--capture", WSL, "--").returncode, 125)

    def test_nested_runs_take_back_what_the_outer_one_has_set(self):
        finished = self.command(BINARY, "run", "--capture", WSL, "--", "env")
        names = [line for line in finished.stdout.splitlines() if line.startswith("SAGE_DOCTOR_ENV_NAMES=")]
        self.assertEqual(names, ["SAGE_DOCTOR_ENV_NAMES=HSA_ENABLE_DXG_DETECTION"])


if __name__ == "__main__":
    unittest.main()
