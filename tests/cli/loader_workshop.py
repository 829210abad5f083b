"""Small shared libraries made to order, a program that opens them, and what the real loader does with them."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

from binary import BARE_ENVIRONMENT, BINARY

COMPILER = shutil.which("cc")
DT_RUNPATH = 29
DT_AUXILIARY = 0x7FFFFFFD

DRIVER = r"""
#include <dlfcn.h>
#include <stdio.h>
typedef void* Open(const char*);
static void* open_as_told(const char* name) {
  if (name[0] != '@') return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  Open* open_here = (Open*)dlsym(RTLD_DEFAULT, "open_here");  /* of a library that is loaded */
  return open_here ? open_here(name + 1) : 0;
}
int main(int count, char** names) {
  for (int i = 1; i < count; ++i) puts(open_as_told(names[i]) ? "opened" : "failed");
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[8192];
  while (fgets(line, sizeof line, maps)) fputs(line, stdout);
  return 0;
}
"""

CALLER = r"""
#include <dlfcn.h>
void* open_here(const char* name) { return dlopen(name, RTLD_NOW | RTLD_GLOBAL); }
"""


class Workshop:
    """A scratch folder in which libraries and programs are built, each kind once."""

    def __init__(self):
        self._scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._scratch.name).resolve()
        self.parts = self.folder / "parts"
        self.parts.mkdir()
        self._stubs = {}
        self._built = {}
        self._trees = 0
        (self.parts / "empty.c").write_text("")
        (self.parts / "driver.c").write_text(DRIVER)
        (self.parts / "caller.c").write_text(CALLER)
        self._compile("-c", "-o", self.parts / "empty.o", self.parts / "empty.c")
        self._compile("-c", "-o", self.parts / "driver.o", self.parts / "driver.c")
        # No tail call: the loader tells the caller by the return address.
        self._compile("-c", "-fPIC", "-O0", "-o", self.parts / "caller.o", self.parts / "caller.c")

    def close(self):
        self._scratch.cleanup()

    @staticmethod
    def _compile(*arguments):
        subprocess.run([COMPILER, *map(str, arguments)], check=True, capture_output=True, text=True)

    def _stub(self, name):
        """Something to link with so that DT_NEEDED says `name`."""
        if name not in self._stubs:
            path = self.parts / "stubs" / name
            path.parent.mkdir(exist_ok=True)
            self._compile("-shared", "-nostdlib", f"-Wl,-soname,{name}", "-o", path, self.parts / "empty.o")
            self._stubs[name] = path
        return self._stubs[name]

    def _link(self, first, soname, needed, rpath, runpath):
        key = (tuple(first), soname, tuple(needed), rpath, runpath)
        if key in self._built:
            return self._built[key]
        path = self.parts / f"built{len(self._built)}"
        arguments = [*first, "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-Wl,--unresolved-symbols=ignore-all"]
        if soname:
            arguments.append(f"-Wl,-soname,{soname}")
        if rpath is not None:
            arguments += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{rpath}"]
        elif runpath is not None:
            arguments += ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{runpath}"]
        both = rpath is not None and runpath is not None
        if both:  # no linker option makes both: a string that another tag brings in becomes the second
            arguments.append(f"-Wl,--auxiliary,{runpath}")
        self._compile(*arguments, "-o", path, *map(self._stub, needed))
        if both:
            retag(path, DT_AUXILIARY, DT_RUNPATH)
        self._built[key] = path
        return path

    def library(self, soname=None, needed=(), rpath=None, runpath=None):
        """A shared library; the same arguments give the same file."""
        return self._link(["-shared", "-nostdlib", self.parts / "empty.o"], soname, needed, rpath, runpath)

    def calling_library(self, rpath=None, runpath=None):
        """A shared library that opens what a program's argument "@name" says."""
        return self._link(["-shared", "-nostdlib", self.parts / "caller.o"], "libcaller.so", (), rpath, runpath)

    def program(self, needed=(), rpath=None, runpath=None):
        """Opens its arguments one after the other, then prints /proc/self/maps. "@name" is opened by the
        calling_library() among those before it."""
        return self._link([self.parts / "driver.o"], None, needed, rpath, runpath)

    def tree(self, files):
        """A new folder with these files: {relative path: file to hard-link, or bytes, or ("symlink", target)}."""
        self._trees += 1
        root = self.folder / f"t{self._trees}"
        for name, source in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(source, bytes):
                path.write_bytes(source)
            elif isinstance(source, tuple) and source[0] == "symlink":
                path.symlink_to(source[1])
            elif isinstance(source, tuple) and source[0] == "copy":
                shutil.copyfile(source[1], path)
            elif isinstance(source, tuple) and source[0] == "hardlink":
                os.link(root / source[1], path)
            elif source == "folder":
                path.mkdir(exist_ok=True)
            else:
                os.link(source, path)
        return root


def retag(path, old, new):
    """Changes the tag of an entry of the dynamic section of a 64-bit ELF file."""
    data = bytearray(path.read_bytes())
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, table + i * size)
        if kind != 2:
            continue
        for at in range(offset, offset + length, 16):
            (tag,) = struct.unpack_from("<Q", data, at)
            if tag == old:
                struct.pack_into("<Q", data, at, new)
                path.write_bytes(data)
                return
    raise AssertionError(f"{path} has no tag {old:#x}")


def environment_with(variables):
    return {**BARE_ENVIRONMENT, **{name: value for name, value in variables.items() if value is not None}}


def real(program, opened=(), variables={}, cwd="/"):
    """What glibc does: None when the program can't start, else which opens failed, the files in the process, and
    the searches with the file that each ended at."""
    finished = subprocess.run(
        [str(program), *map(str, opened)],
        env={**environment_with(variables), "LD_DEBUG": "libs"},
        cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )
    if finished.returncode == 127:
        return None
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    maps = [line.split(maxsplit=5) for line in lines[len(opened):]]
    searches = []
    for line in finished.stderr.splitlines():
        text = line.split(":", 1)[-1].strip()
        if text.startswith("find library="):
            searches.append([text[len("find library="):].split(" ")[0], None])
        elif text.startswith("trying file=") and searches:
            searches[-1][1] = os.path.join(cwd, text[len("trying file="):])
    return {
        "failed": [line == "failed" for line in lines[:len(opened)]],
        "files": {parts[5] for parts in maps if len(parts) == 6 and parts[5].startswith("/")},
        "searches": [tuple(search) for search in searches],
    }


def libs_json(*arguments, variables={}, cwd="/"):
    finished = subprocess.run(
        [BINARY, "libs", "--json", "--no-redact", *map(str, arguments)],
        env=environment_with(variables), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def predicted(program, opened=(), variables={}, cwd="/"):
    """The same by `sage-doctor libs`."""
    if opened:
        arguments = ["--program", program, opened[0]]
        for name in opened[1:]:
            arguments += ["--then", str(name).removeprefix("@")]
        if any(str(name).startswith("@") for name in opened):
            arguments += ["--caller", "libcaller.so"]
    else:
        arguments = [program]
    told = libs_json(*arguments, variables=variables, cwd=cwd)
    if told["stages"][0]["failed"]:
        return None
    searched = []
    settled = {"path", "already-loaded-name", "already-loaded-soname", "program"}
    for stage in told["stages"]:
        requests = stage["requests"] if stage is told["stages"][0] else [stage, *stage["requests"]]
        searched += [(row["name"], row["path"] if row["loaded"] else None)
                     for row in requests if row["rule"] not in settled and "/" not in row["name"]]
    return {
        "failed": [stage["failed"] for stage in told["stages"][1:]],
        "files": {row["canonical"] for row in told["process"]},
        "searches": searched,
        "second": told["second_copies"],
    }


def differences(program, opened=(), variables={}, cwd="/"):
    """In what the prediction differs from the real loader, as text; empty: in nothing."""
    truth = real(program, opened, variables, cwd)
    told = predicted(program, opened, variables, cwd)
    if truth is None or told is None:
        return "" if truth is told else f"starts: really {truth is not None}, predicted {told is not None}"
    if truth["failed"] != told["failed"]:
        return f"failed opens: really {truth['failed']}, predicted {told['failed']}"
    if truth["files"] != told["files"]:
        return f"only really: {truth['files'] - told['files']}, only predicted: {told['files'] - truth['files']}"
    # After a failure glibc stops, where the prediction goes on to tell all that is missing.
    if any(truth["failed"]) or "LD_PRELOAD" in variables:
        return ""
    if [name for name, _ in truth["searches"]] != [name for name, _ in told["searches"]]:
        return f"searches: really {truth['searches']}, predicted {told['searches']}"
    for (name, path), (_, guess) in zip(truth["searches"], told["searches"]):
        if guess is not None and os.path.normpath(path) != os.path.normpath(guess):
            return f"{name}: really {path}, predicted {guess}"
    return ""
