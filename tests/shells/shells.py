"""What the tests of `sage-doctor env` in real shells share: the shells, odd machines, and a second opinion, in Python,
about what a script has to do."""

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

BARE = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}

# Language, the command that starts the shell bare, whether it knows `set -eu`.
SHELLS = {
    "bash": ("bash", ["bash", "--norc", "--noprofile"], True),
    "sh": ("sh", ["sh"], True),
    "dash": ("dash", ["dash"], True),
    "zsh": ("zsh", ["zsh", "-f"], True),
    "mksh": ("mksh", ["mksh"], True),
    "ksh93": ("ksh", ["ksh93"], True),
    "busybox": ("busybox", ["busybox", "sh"], True),
    "fish": ("fish", ["fish", "--no-config"], False),
    "tcsh": ("csh", ["tcsh", "-f"], False),
}

# What shells set by themselves, each in its own way.
OWN_TO_SHELLS = {"_", "A__z", "SHLVL", "PWD", "OLDPWD", "LOGNAME", "USER", "GROUP", "HOST", "HOSTTYPE", "OSTYPE", "MACHTYPE",
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
    files = {b"bin/hipcc": b"#!/bin/sh\necho the odd hipcc\n", b"lib/llvm/bin/clang++": b"",
             b"lib/llvm/bin/ld.lld": b"",
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


def quoted_for(shell, text):
    """`text` as a word of this shell."""
    return "'" + text.replace("'", "\\'" if shell == "fish" else "'\\''") + "'"


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


class ShellTest(unittest.TestCase):
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
                                            env=BARE)
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
        quoted, out = (quoted_for(name, str(path)) for path in (file, notes))
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
        story = f"{name}\n{text}\n{finished.stderr.decode()}"
        self.assertEqual((finished.returncode, finished.stderr), (0, b""), story)
        return {note.name: environment_of(note.read_bytes()) for note in notes.iterdir()}

    def each_shell(self):
        for name, (_, command, _) in SHELLS.items():
            with self.subTest(shell=name):
                if shutil.which(command[0]) is None:
                    self.skipTest(f"{command[0]} is not installed")
                yield name
