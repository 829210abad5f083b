"""The scripts of `sage-doctor env`, sourced by real shells.

Each case writes a script, has a shell source it once, twice, undo it, do both again, and notes the whole environment in
between. A shell that is not installed is skipped, with the reason. The expected environment is worked out in shells.py
from the settings of `--shell json`: a second opinion about what the scripts do.
"""

import os
import shutil
import subprocess
import sys
import unittest

from shells import (ANSWER, BARE, BINARY, CAPTURES, ENV, ODD_FOLDERS, ODD_ROOT, SHELLS, SITUATIONS, SPACED_ROOT,
                    ShellTest, environment_of, expected_environment, without_notes, write_live_root)


class Matrix(ShellTest):
    def check_round_trip(self, name, root, situation, force, strict):
        language = SHELLS[name][0]
        finished = self.script(language, root, *(["--force"] if force else []))
        self.assertEqual(finished.returncode, 0, finished.stderr.decode())
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8",
                     **SITUATIONS[situation]}
        seen = self.source(name, finished.stdout,
                           ["!0", "@", "!1", "@", "!2", "sage_doctor_deactivate", "!3", "@", "!4",
                            "sage_doctor_deactivate", "!5"], variables, strict)
        self.assertEqual(seen["1"], seen["2"], "sourced twice")
        self.assertEqual(seen["0"], seen["3"], "undone")
        self.assertEqual(seen["1"], seen["4"], "sourced again")
        self.assertEqual(seen["0"], seen["5"], "undone again")
        expected = expected_environment(seen["0"], self.settings(root), force)
        self.assertEqual(without_notes(seen["1"]), expected)
        self.assertTrue(seen["1"]["SAGE_DOCTOR_ENV"].startswith(b"sage-doctor-env/1,"))

    def test_the_capture_needs_every_kind_of_setting(self):
        kinds = {setting["variable"]: setting["kind"] for setting in self.settings(SPACED_ROOT)}
        for variable in ("ROCM_PATH", "HIP_PATH", "HIP_DEVICE_LIB_PATH", "MAX_JOBS"):
            self.assertEqual(kinds.get(variable), "set", kinds)
        self.assertEqual(kinds.get("HSA_ENABLE_DXG_DETECTION"), "set", kinds)
        self.assertEqual(kinds.get("PATH"), "prepend", kinds)
        folders = {setting["variable"]: setting["values"] for setting in self.settings(SPACED_ROOT)}
        self.assertEqual(folders.get("LD_LIBRARY_PATH"), [SPACED_ROOT + "/lib", "/usr/lib/wsl/lib"])

    def test_sourced_undone_and_sourced_again(self):
        for name in self.each_shell():
            for situation in SITUATIONS:
                for force in (False, True):
                    for strict in (False, True):
                        with self.subTest(shell=name, situation=situation, force=force, strict=strict):
                            self.check_round_trip(name, SPACED_ROOT, situation, force, strict)

    def test_odd_characters_survive_or_are_refused_by_name(self):
        for name in self.each_shell():
            with self.subTest(shell=name):
                self.check_round_trip(name, ODD_ROOT, "own values", True, True)

    def test_bytes_of_every_kind_in_a_folder_that_is_there(self):
        """A live machine, not a capture: the folder is on this disk, and a program in it answers by its plain name."""
        for name in self.each_shell():
            language, _, _ = SHELLS[name]
            for folder in ODD_FOLDERS:
                with self.subTest(shell=name, folder=folder):
                    root = os.fsencode(self.folder) + b"/" + folder
                    write_live_root(root)
                    made = subprocess.run([BINARY, "env", "--root", root, "--shell", language], capture_output=True,
                                          timeout=60, check=False, env=BARE)
                    if language == "csh" and (b"\n" in folder or b"\xff" in folder):
                        self.assertEqual(made.returncode, 1)
                        self.assertRegex(made.stderr, b"cannot write (ROCM_PATH|PATH) for csh")
                        continue
                    self.assertEqual(made.returncode, 0, made.stderr)
                    seen = self.source(name, made.stdout,
                                       ["!0", "@", "!1", f"hipcc > '{ANSWER}'", "@", "!2",
                                        "sage_doctor_deactivate", "!3"],
                                       {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, True)
                    self.assertEqual((self.folder / ANSWER).read_bytes(), b"the odd hipcc\n")
                    self.assertEqual(seen["1"]["ROCM_PATH"], root)
                    self.assertEqual(seen["1"]["PATH"], root + b"/bin:/usr/bin:/bin")
                    self.assertEqual(seen["1"], seen["2"])
                    self.assertEqual(seen["0"], seen["3"])
                    if name != "bash":
                        continue
                    (self.folder / "script").write_bytes(made.stdout)
                    check = subprocess.run([BINARY, "env", "--check", self.folder / "script"], capture_output=True,
                                           timeout=60, check=False, env=BARE)
                    self.assertEqual((check.returncode, check.stdout[-8:]), (0, b": fresh\n"), check.stdout)

    def test_a_later_edit_is_left_alone(self):
        edits = {"fish": ['set -gx PATH /later $PATH /last', 'set -gx ROCM_PATH /changed'],
                 "tcsh": ['setenv PATH "/later:${PATH:q}:/last"', 'setenv ROCM_PATH /changed']}
        for name in self.each_shell():
            edit = edits.get(name, ['export PATH="/later:$PATH:/last" ROCM_PATH=/changed'])
            script = self.script(SHELLS[name][0], SPACED_ROOT).stdout
            seen = self.source(name, script, ["@", *edit, "sage_doctor_deactivate", "!1"],
                               {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ""}, True)
            self.assertEqual(seen["1"]["PATH"], b"/later:/usr/bin:/bin:/last")
            self.assertEqual(seen["1"]["ROCM_PATH"], b"/changed")
            self.assertEqual(seen["1"]["LD_LIBRARY_PATH"], b"")
            self.assertNotIn("HIP_PATH", seen["1"])
            self.assertEqual(without_notes(seen["1"]), seen["1"])

    def test_another_script_takes_the_first_one_back(self):
        first, second = self.script("sh", SPACED_ROOT).stdout, self.script("sh", "/opt/rocm-7.2.0").stdout
        other = self.folder / "second"
        other.write_bytes(second)
        seen = self.source("bash", first, ["!0", "@", f'. "{other}"', "!1", "sage_doctor_deactivate", "!2"],
                           {"PATH": "/usr/bin:/bin"}, True)
        self.assertEqual(seen["1"]["ROCM_PATH"], b"/opt/rocm-7.2.0")
        self.assertNotIn(SPACED_ROOT.encode(), seen["1"]["PATH"])
        self.assertEqual(seen["0"], seen["2"])

    def test_one_shell_takes_back_what_another_has_set(self):
        """Also what its own script does not set: a bare one that finds nothing to do."""
        bare = CAPTURES / "healthy-wsl2-rocm714"
        posix = self.folder / "posix"
        posix.write_bytes(self.script("sh", ODD_ROOT).stdout)
        for name in self.each_shell():
            if name == "bash":
                continue
            with self.subTest(shell=name):
                language, command, _ = SHELLS[name]
                own = self.folder / "own"
                made = subprocess.run([BINARY, "env", "--capture", bare, "--shell", language], capture_output=True,
                                      timeout=60, check=True, env=BARE)
                self.assertIn(b"Nothing has to be set", made.stdout)
                own.write_bytes(made.stdout)
                word = "source" if name in ("fish", "tcsh") else "."
                inner = self.folder / "inner"
                file = str(own).replace("'", "'\\''" if name != "fish" else "\\'")
                inner.write_text(f"{word} '{file}'\nsage_doctor_deactivate\n{ENV} -0\n", encoding="utf-8")
                outer = f'. "$1" && shift && exec "$@"'
                finished = subprocess.run(["bash", "-c", outer, "bash", str(posix), *command, str(inner)],
                                          env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}, capture_output=True,
                                          timeout=60, check=True)
                after = environment_of(finished.stdout)
                self.assertEqual(after["PATH"], b"/usr/bin:/bin")
                self.assertFalse([variable for variable in after if "ROCM" in variable or "SAGE" in variable], after)

    def test_python3_stays_that_of_an_active_environment(self):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=True, timeout=60)
        script = self.script("bash", SPACED_ROOT).stdout
        notes = self.folder / "python"
        self.source("bash", script, ["set +u", f'. "{self.folder}/venv/bin/activate"', "@",
                                     f'command -v python3 > "{notes}"', "sage_doctor_deactivate", "deactivate"],
                    {"PATH": "/usr/bin:/bin"}, False)
        self.assertEqual(notes.read_text(encoding="utf-8").strip(), f"{self.folder}/venv/bin/python3")

    def test_an_environment_of_python_may_come_and_go_in_any_order(self):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=True, timeout=60)
        files = {"fish": "activate.fish", "tcsh": "activate.csh"}
        for name in self.each_shell():
            script = self.script(SHELLS[name][0], SPACED_ROOT).stdout
            quoted = str(self.folder).replace("'", "\\'" if name == "fish" else "'\\''")
            word = "source" if name in ("fish", "tcsh") else "."
            venv = f"{word} '{quoted}/venv/bin/{files.get(name, 'activate')}'"
            # The prompt of an environment is not ours to compare; activate.csh asks for one.
            start = ["set prompt = x"] if name == "tcsh" else []
            for order in ([venv, "@", "deactivate", "sage_doctor_deactivate"],
                          [venv, "@", "sage_doctor_deactivate", "deactivate"],
                          ["@", venv, "deactivate", "sage_doctor_deactivate"],
                          ["@", venv, "sage_doctor_deactivate", "deactivate"]):
                with self.subTest(shell=name, order=order):
                    where = f"python3 -c 'import sys; print(sys.prefix)' > '{ANSWER}'"
                    inside = [*order[:2], where, *order[2:]]
                    seen = self.source(name, script, [*start, "!0", *inside, "!1"], {"PATH": "/usr/bin:/bin"}, False)
                    self.assertEqual((self.folder / ANSWER).read_text(encoding="utf-8").strip(),
                                     f"{self.folder}/venv")
                    for variables in seen.values():
                        variables.pop("PS1", None)
                    # An environment that is left last puts back the PATH that it found, with our folder.
                    if order[0] == "@" and order[3] == "deactivate":
                        seen["1"]["PATH"] = seen["1"]["PATH"].replace(SPACED_ROOT.encode() + b"/bin:", b"")
                    self.assertEqual(seen["0"], seen["1"])

    def test_no_word_of_the_caller_changes(self):
        script = self.script("sh", SPACED_ROOT).stdout
        for name in ("bash", "dash", "zsh", "mksh"):
            if shutil.which(name) is None:
                continue
            with self.subTest(shell=name):
                (self.folder / "s").write_bytes(script)
                (self.folder / "program").write_text(
                    'set -- one "two three"; IFS=x; before=$-\n. ./s\nprintf "%s|" "$@" "$IFS" "$-" "$before"\n'
                    "sage_doctor_deactivate\nset | grep '^sage_doctor'\ntrue\n", encoding="utf-8")
                finished = subprocess.run([*SHELLS[name][1], "program"], cwd=self.folder, env={"PATH": "/usr/bin:/bin"},
                                          capture_output=True, text=True, timeout=60, check=True)
                words = finished.stdout.split("|")
                self.assertEqual(words[:3], ["one", "two three", "x"])
                self.assertEqual(words[3], words[4])
                self.assertEqual(words[5].strip(), "", "variables or functions are left")

    def test_nothing_usable_fails_when_sourced(self):
        capture = self.folder / "nothing"
        capture.mkdir()
        (capture / "capture.toml").write_text("capture_version = 1\n", encoding="utf-8")
        for name in self.each_shell():
            with self.subTest(shell=name):
                language, command, _ = SHELLS[name]
                made = subprocess.run([BINARY, "env", "--capture", capture, "--shell", language], capture_output=True,
                                      timeout=60, env={"PATH": "/usr/bin:/bin"}, check=False)
                self.assertEqual(made.returncode, 1)
                self.assertEqual(made.stdout.count(b"\n"), 1)
                (self.folder / "failing").write_bytes(made.stdout)
                word = "source" if name in ("fish", "tcsh") else "."
                finished = subprocess.run([*command, "-c", f"{word} ./failing && {ENV} echo reached"], cwd=self.folder,
                                          capture_output=True, text=True, timeout=60, check=False,
                                          env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
                self.assertNotIn("reached", finished.stdout)
                self.assertIn("nothing usable", finished.stdout + finished.stderr)


if __name__ == "__main__":
    unittest.main()
