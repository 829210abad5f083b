"""The scripts of `sage-doctor env`, sourced by real shells.

Each case writes a script, has a shell source it once, twice, undo it, do both again, and notes the whole environment in
between. A shell that is not installed is skipped, with the reason. The expected environment is worked out here, in
Python, from the settings of `--shell json`: a second opinion about what the scripts do.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from binary import BINARY, CAPTURES  # noqa: E402

ENV = shutil.which("env", path="/usr/bin:/bin")

# Language, the command that starts the shell bare, whether it knows `set -eu`.
SHELLS = {
    "bash": ("bash", ["bash", "--norc", "--noprofile"], True),
    "sh": ("sh", ["sh"], True),
    "dash": ("dash", ["dash"], True),
    "zsh": ("zsh", ["zsh", "-f"], True),
    "mksh": ("mksh", ["mksh"], True),
    "fish": ("fish", ["fish", "--no-config"], False),
    "tcsh": ("csh", ["tcsh", "-f"], False),
}

# What shells set by themselves, each in its own way.
OWN_TO_SHELLS = {"_", "SHLVL", "PWD", "OLDPWD", "LOGNAME", "USER", "GROUP", "HOST", "HOSTTYPE", "OSTYPE", "MACHTYPE",
                 "VENDOR", "NLSPATH"}

ODD_ROOT = "/opt/rocm-7.2.0 it's $HOME \"q\" `x` ! *?[a]{b,c}~"
SPACED_ROOT = "/opt/rocm-7.2.0 beta"

# Environments to source the script in: nothing; set but empty; values and lists of one's own, with empty elements.
SITUATIONS = {
    "bare": {},
    "empty": {"LD_LIBRARY_PATH": "", "ROCM_PATH": "", "HIP_PATH": ""},
    "own values": {"LD_LIBRARY_PATH": ":/a b::/c", "ROCM_PATH": "/mine's $x", "HIP_PATH": "x\ny !z\\"},
    "already there": {"LD_LIBRARY_PATH": "/opt/rocm-7.2.0 beta/lib:/z", "MAX_JOBS": "4"},
    "also behind": {"LD_LIBRARY_PATH": "/z:/opt/rocm-7.2.0 beta/lib:/usr/lib/wsl/lib:"},
    "only colons": {"LD_LIBRARY_PATH": "::"},
    "in the folder": {"LD_LIBRARY_PATH": ":"},
}


def toml(text):
    return json.dumps(text, ensure_ascii=False)


def write_capture(folder, root):
    """A machine with a ROCm at `root` that needs everything set: no entry in PATH, libraries that nothing leads to."""
    shutil.copytree(CAPTURES / BASE, folder.parent / BASE)
    folder.mkdir()
    (folder / "capture.toml").write_text(CAPTURE.replace("@ROOT@", toml(root)[1:-1]), encoding="utf-8")
    return folder


BASE = "healthy-wsl2-rocm72"
CAPTURE = """
capture_version = 1
description = "ROCm in an odd folder, with the bridge to Windows that the runtime in /opt/rocm-7.2.1 lacks"
extends = "healthy-wsl2-rocm72"
delete = ["env:HSA_ENABLE_DXG_DETECTION", "/etc/ld.so.conf.d/ld.wsl.conf", "/opt/rocm-7.2.1/lib/librocdxg.so"]

[loader_cache]
"libdxcore.so" = []
"librocdxg.so" = []

[elf."@ROOT@/lib/librocdxg.so"]
soname = "librocdxg.so"

[elf."@ROOT@/lib/librocdxg.so".symbols]
hsaKmtOpenKFD = true

[process]
usable_cpus = 16

[system]
libc = "glibc 2.39"

[environment]
PATH = "/usr/local/bin:/usr/bin:/bin"

[path."/proc/meminfo"]
text = \"\"\"
MemTotal:       16000000 kB
MemAvailable:   10000000 kB
SwapTotal:             0 kB
SwapFree:              0 kB
\"\"\"

[path."@ROOT@/.info/version"]
text = "7.2.0-43"

[path."@ROOT@/bin/hipcc"]
mode = "0755"

[path."@ROOT@/bin/amdclang++"]
mode = "0755"

[path."@ROOT@/lib/llvm/bin/clang++"]
mode = "0755"

[path."@ROOT@/lib/llvm/bin/ld.lld"]
mode = "0755"

[path."@ROOT@/lib/llvm/bin/clang-offload-bundler"]
mode = "0755"

[path."@ROOT@/lib/llvm/lib/clang"]
type = "directory"
names = ["20"]

[path."@ROOT@/lib/llvm/lib/clang/20"]
type = "directory"

[path."@ROOT@/include/hip/hip_runtime.h"]
type = "file"

[path."@ROOT@/include/hip/hip_version.h"]
text = "#define HIP_VERSION_MAJOR 7"

[path."@ROOT@/lib/llvm/amdgcn/bitcode"]
type = "directory"
names = ["ocml.bc", "ockl.bc", "oclc_isa_version_1201.bc"]
"""


# What a folder's name may hold, here on the disk. A colon can't be in a list, whatever the shell.
ODD_FOLDERS = [b"a b", b"a\nb", b"a\xffb", b"it's \"$HOME\" `x` \\ *?[a]{b,c}~!;&|<>()#",
               b"\xff\n' \"$x\" \\\\n `y` *"]

# A name beside the script, for what a program says.
ANSWER = "answer"


def write_live_root(root):
    """A ROCm of empty files, whose hipcc says that it is this one."""
    files = {b"bin/hipcc": b"#!/bin/sh\necho the odd hipcc\n", b"lib/llvm/bin/clang++": b"", b"lib/llvm/bin/ld.lld": b"",
             b"include/hip/hip_runtime.h": b"", b"include/hip/hip_version.h": b"#define HIP_VERSION_MAJOR 7\n",
             b".info/version": b"7.2.0-43\n", b"lib/llvm/amdgcn/bitcode/ocml.bc": b"",
             b"lib/llvm/amdgcn/bitcode/ockl.bc": b"", b"lib/llvm/amdgcn/bitcode/oclc_isa_version_1201.bc": b""}
    os.makedirs(root + b"/lib/llvm/lib/clang/20", exist_ok=True)
    for name, text in files.items():
        path = root + b"/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text)
        os.chmod(path, 0o755)


def read_github(text):
    """What the runner of GitHub Actions makes of a $GITHUB_ENV file (its docs: "Setting an environment variable" and
    "Multiline strings"): NAME=VALUE, or NAME<<WORD and all lines up to one that is WORD."""
    values = {}
    lines = iter(text.splitlines())
    for line in lines:
        if not line:
            continue
        equals, here = line.find("="), line.find("<<")
        if equals >= 0 and (here < 0 or equals < here):
            values[line[:equals]] = line[equals + 1:]
            continue
        if here <= 0:
            raise ValueError(line)
        word, value = line[here + 2:], []
        for part in lines:
            if part == word:
                break
            value.append(part)
        else:
            raise ValueError(f"no {word}")
        values[line[:here]] = "\n".join(value)
    return values


def without_modules(variables):
    """Less the notes that Environment Modules keeps for itself."""
    own = ("MODULE", "__MODULES", "LOADEDMODULES", "_LMFILES_", "BASH_FUNC_", "BASH_ENV", "FPATH", "ENV", "MANPATH")
    return {name: value for name, value in variables.items() if not name.startswith(own)}


def environment_of(blob):
    """{name: value} of the output of env -0, without what shells set themselves."""
    items = (item.partition(b"=") for item in blob.split(b"\0") if item)
    variables = {name.decode(): value for name, _, value in items}
    return {name: value for name, value in variables.items() if name not in OWN_TO_SHELLS}


def expected_environment(before, settings, force):
    """What sourcing the script makes of `before`, apart from the notes that it keeps."""
    after = dict(before)
    for setting in settings:
        name = setting["variable"]
        old = after.get(name)
        if setting["kind"] == "set":
            if force or not old:
                after[name] = setting["values"][0].encode()
            continue
        for element in (value.encode() for value in reversed(setting["values"])):
            current = after.get(name, b"")
            if not (current + b":").startswith(element + b":"):
                after[name] = element + (b":" + current if current else b"")
    return after


def without_notes(variables):
    return {name: value for name, value in variables.items() if not name.startswith("SAGE_DOCTOR_ENV")}


class Matrix(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="sage doctor's ")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def script(self, language, root, *options, made={}):
        """The finished `sage-doctor env` for a ROCm at `root`. Run once for each: the same words come every time."""
        wish = (language, root, options)
        if wish not in made:
            with tempfile.TemporaryDirectory() as place:
                capture = write_capture(pathlib.Path(place) / "capture", root)
                made[wish] = subprocess.run([BINARY, "env", "--capture", capture, "--shell", language, *options],
                                            capture_output=True, timeout=60, check=False,
                                            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
        return made[wish]

    def settings(self, root):
        return json.loads(self.script("json", root).stdout)["settings"]

    def source(self, name, script, lines, variables, strict):
        """Runs `lines` in a bare shell; "@" in them sources the script, "!N" notes the environment as N."""
        _, command, knows_set = SHELLS[name]
        file = self.folder / "environment of mine"
        file.write_bytes(script)
        notes = self.folder / "notes"
        shutil.rmtree(notes, ignore_errors=True)
        notes.mkdir()
        (self.folder / ANSWER).unlink(missing_ok=True)
        quoted = "'" + str(file).replace("'", "'\\''") + "'" if name != "fish" else "'" + str(file).replace("'", "\\'") + "'"
        out = "'" + str(notes).replace("'", "'\\''") + "'" if name != "fish" else "'" + str(notes).replace("'", "\\'") + "'"
        text = ""
        if strict:
            text += "set -eu\nset -C\nIFS=/:ao\n" if knows_set else "set noclobber\n" if name == "tcsh" else ""
        for line in lines:
            if line == "@":
                text += ("source " if name in ("fish", "tcsh") else ". ") + quoted + "\n"
            elif line.startswith("!"):
                text += f"{ENV} -0 > {out}/{line[1:]}\n"
            else:
                text += line + "\n"
        program = self.folder / "program"
        program.write_text(text, encoding="utf-8")
        finished = subprocess.run([*command, str(program)], env=variables, cwd=self.folder, capture_output=True,
                                  timeout=60, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual((finished.returncode, finished.stderr), (0, b""), f"{name}\n{text}\n{finished.stderr.decode()}")
        return {note.name: environment_of(note.read_bytes()) for note in notes.iterdir()}

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

    def each_shell(self):
        for name, (_, command, _) in SHELLS.items():
            with self.subTest(shell=name):
                if shutil.which(command[0]) is None:
                    self.skipTest(f"{command[0]} is not installed")
                yield name

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
                                          timeout=60, check=False, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
                    if language == "csh" and (b"\n" in folder or b"\xff" in folder):
                        self.assertEqual(made.returncode, 1)
                        self.assertRegex(made.stderr, b"cannot write (ROCM_PATH|PATH) for csh")
                        continue
                    self.assertEqual(made.returncode, 0, made.stderr)
                    seen = self.source(name, made.stdout,
                                       ["!0", "@", "!1", f"hipcc > '{ANSWER}'", "@", "!2", "sage_doctor_deactivate", "!3"],
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
                                           timeout=60, check=False, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
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
                                      timeout=60, check=True, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
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
                    inside = order[:2] + [f"command -v python3 > '{ANSWER}'" if name != "tcsh" else
                                          f"which python3 > '{ANSWER}'"] + order[2:]
                    seen = self.source(name, script, [*start, "!0", *inside, "!1"], {"PATH": "/usr/bin:/bin"}, False)
                    self.assertEqual((self.folder / ANSWER).read_text(encoding="utf-8").strip(),
                                     f"{self.folder}/venv/bin/python3")
                    for variables in seen.values():
                        variables.pop("PS1", None)
                    # An environment that is left last puts back the PATH that it found, with our folder.
                    if order[0] == "@" and order[3] == "deactivate":
                        seen["1"]["PATH"] = seen["1"]["PATH"].replace(SPACED_ROOT.encode() + b"/bin:", b"")
                    self.assertEqual(seen["0"], seen["1"])

    def test_a_module_does_and_undoes_it(self):
        start = "/usr/share/modules/init/bash"
        if not pathlib.Path(start).exists():
            self.skipTest("environment-modules is not installed")
        for root in (SPACED_ROOT, ODD_ROOT):
            for force in (False, True):
                with self.subTest(root=root, force=force):
                    made = self.script("modulefile", root, *(["--force"] if force else []))
                    self.assertEqual(made.returncode, 0, made.stderr)
                    (self.folder / "modules").mkdir(exist_ok=True)
                    (self.folder / "modules" / "amd").write_bytes(made.stdout)
                    own = {"ROCM_PATH": "/mine"} if force else {}
                    # Modules' own notes, and what its shell function needs, are not compared.
                    notes = self.folder / "notes of modules"
                    program = (f'. {start}; module use ./modules; {ENV} -0 > "$1.0"; module load amd; {ENV} -0 > "$1.1"; '
                               f'module unload amd; {ENV} -0 > "$1.2"')
                    finished = subprocess.run(["bash", "--norc", "-c", program, "bash", notes], cwd=self.folder,
                                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8",
                                                   "LD_LIBRARY_PATH": "/a b:/c", **own},
                                              capture_output=True, text=True, timeout=60, check=True)
                    self.assertEqual(finished.stderr, "")
                    seen = [without_modules(environment_of(pathlib.Path(f"{notes}.{i}").read_bytes())) for i in range(3)]
                    expected = expected_environment(seen[0], self.settings(root), force)
                    self.assertEqual(without_notes(seen[1]), expected)
                    self.assertEqual(seen[2], seen[0])

    def finished(self, root):
        """The environment of the capture after the script, as --shell json works it out."""
        return {setting["variable"]: setting["result"] for setting in self.settings(root)}

    def test_github_reads_every_value_back(self):
        for root in (SPACED_ROOT, ODD_ROOT, "/opt/rocm-7 a\nROCM_HOME=x\nSAGE_DOCTOR_END\n\n<<b", "/opt/rocm-7=<<x"):
            with self.subTest(root=root):
                made = self.script("github", root)
                self.assertEqual(made.returncode, 0, made.stderr)
                values = read_github(made.stdout.decode())
                mark = values.pop("SAGE_DOCTOR_ENV")
                self.assertTrue(mark.startswith("sage-doctor-env/1,"))
                self.assertEqual(values, self.finished(root))

    def test_dotenv_is_a_script_of_sh_as_well(self):
        (self.folder / "file").write_bytes(self.script("dotenv", SPACED_ROOT).stdout)
        finished = subprocess.run(["sh", "-eu", "-c", f"set -a; . ./file; {ENV} -0"], cwd=self.folder, capture_output=True,
                                  env={}, timeout=60, check=True)
        seen = environment_of(finished.stdout)
        for name, value in self.finished(SPACED_ROOT).items():
            self.assertEqual(seen[name], value.encode())
        refused = self.script("dotenv", ODD_ROOT)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b"cannot write ROCM_PATH for dotenv", refused.stderr)

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

    def test_hipcc_of_this_machine_answers(self):
        if shutil.which("hipcc") is None:
            self.skipTest("hipcc is not installed")
        script = self.folder / "here"
        made = subprocess.run([BINARY, "env", "--toolchain", "hipcc", "--shell", "bash", "-o", script],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("Tier: compiler root", script.read_text(encoding="utf-8"))
        answer = subprocess.run(["bash", "-euc", '. "$1"; hipcc --version', "bash", str(script)], capture_output=True,
                                text=True, timeout=60, check=True)
        self.assertIn("HIP version", answer.stdout)

    def test_a_tree_of_its_own_compiles(self):
        """Debian's compiler laid out as AMD's packages are: its hipcc and its clang compile, with the device libraries of the
        tree."""
        needed = ["/usr/bin/hipcc.pl", "/usr/lib/llvm-15/bin/clang++", "/usr/include/hip/hip_runtime.h",
                  "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc"]
        for path in needed:
            if not pathlib.Path(path).exists():
                self.skipTest(f"{path} is not there")
        # A folder with blanks is more than that hipcc can bear.
        place = tempfile.TemporaryDirectory(prefix="sage-doctor-")
        self.addCleanup(place.cleanup)
        for libraries in ("amdgcn", "lib/llvm/amdgcn"):
            with self.subTest(libraries=libraries):
                tree = pathlib.Path(place.name) / libraries.replace("/", "-")
                for folder in ("bin", "include", "lib/llvm", ".info"):
                    (tree / folder).mkdir(parents=True)
                for program in ("hipcc", "hipcc.pl", "hipconfig", "hipconfig.pl", "hipvars.pm"):
                    shutil.copy(f"/usr/bin/{program}", tree / "bin")
                (tree / "include/hip").symlink_to("/usr/include/hip")
                for folder in ("bin", "lib", "include"):
                    (tree / "lib/llvm" / folder).symlink_to(f"/usr/lib/llvm-15/{folder}")
                (tree / "llvm").symlink_to("lib/llvm")
                (tree / libraries).symlink_to("/usr/lib/x86_64-linux-gnu/amdgcn")
                (tree / ".info/version").write_text("5.2.3-1\n", encoding="utf-8")
                script = self.folder / "here"
                subprocess.run([BINARY, "env", "--root", tree, "--shell", "sh", "-o", script], check=True, timeout=60)
                (self.folder / "a.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void f(float* x) { *x = sinf(*x); }\n",
                                                   encoding="utf-8")
                program = ('. "$1"; command -v hipcc; hipcc --offload-arch=gfx1030 -v -c a.hip -o a.o; '
                           '"$2" -x hip --offload-arch=gfx1030 -c a.hip -o b.o')
                made = subprocess.run(["sh", "-euc", program, "sh", script, tree / "lib/llvm/bin/clang++"],
                                      cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(made.returncode, 0, made.stderr)
                self.assertEqual(made.stdout.splitlines()[0], f"{tree}/bin/hipcc")
                self.assertIn(f"{tree}/{libraries}/bitcode/ocml.bc", made.stderr)
                self.assertTrue((self.folder / "a.o").exists() and (self.folder / "b.o").exists())

    def test_shellcheck_is_content(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("shellcheck is not installed")
        for language in ("sh", "bash", "dash"):
            for root in (SPACED_ROOT, ODD_ROOT):
                script = self.folder / f"{language}.sh"
                script.write_bytes(self.script(language, root).stdout)
                finished = subprocess.run(["shellcheck", "-s", language, script], capture_output=True, text=True,
                                          timeout=60, check=False)
                self.assertEqual(finished.stdout, "")


if __name__ == "__main__":
    unittest.main()
