"""sage-doctor inspect: files of this machine against readelf, code objects of a real compiler, files that are none."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import jsonschema

from binary import SOURCE, main, run

SCHEMA = json.loads((SOURCE / "docs" / "inspect-schema.json").read_text())
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
CLANG = shutil.which("clang++-19")
READELF = shutil.which("readelf")
LLVM_READELF = shutil.which("llvm-readelf-19")
BUNDLER = shutil.which("clang-offload-bundler-19")

KERNELS = """
#define GLOBAL __attribute__((global))
#define SHARED __attribute__((shared))
GLOBAL void add(float* a, const float* b) { a[__builtin_amdgcn_workitem_id_x()] += b[__builtin_amdgcn_workitem_id_x()]; }
GLOBAL void keep(float* a, int n) {
  SHARED static float tile[256];
  volatile float many[64];
  for (int i = 0; i < n; ++i) many[i % 64] = a[i];
  tile[__builtin_amdgcn_workitem_id_x()] = many[n % 64];
  __builtin_amdgcn_s_barrier();
  a[n] = tile[n % 256];
}
"""

# What the compiler wants to know of the runtime when it makes the host's side of a kernel.
HOST_SOURCE = """
struct dim3 { unsigned x, y, z; };
enum hipError_t { hipSuccess };
extern "C" hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, struct ihipStream_t*);
__attribute__((global)) void NAME(int* a) { *a = 1; }
"""

NOTE_KEYS = {
    "vgprs": "vgpr_count",
    "agprs": "agpr_count",
    "sgprs": "sgpr_count",
    "vgpr_spills": "vgpr_spill_count",
    "sgpr_spills": "sgpr_spill_count",
    "lds_bytes": "group_segment_fixed_size",
    "scratch_bytes_per_lane": "private_segment_fixed_size",
    "kernarg_bytes": "kernarg_segment_size",
    "wavefront_size": "wavefront_size",
}


def inspect_json(*arguments):
    finished = run("inspect", "--json", *arguments)
    assert finished.returncode == 0, finished.stderr
    report = json.loads(finished.stdout)
    problems = [f"{list(e.absolute_path)}: {e.message}" for e in jsonschema.Draft7Validator(SCHEMA).iter_errors(report)]
    assert problems == [], problems
    return report


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout


def readelf_facts(path):
    """What readelf says, in the form of our JSON."""
    dynamic = output(READELF, "-dW", path)
    notes = output(READELF, "-nW", path)
    found = {"needed": re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", dynamic)}
    found["soname"] = (re.findall(r"\(SONAME\)\s+Library soname: \[(.*)\]", dynamic) or [""])[0]
    for key in ("rpath", "runpath"):
        text = re.findall(rf"\({key.upper()}\)\s+Library {key}: \[(.*)\]", dynamic)
        found[key] = text[0].split(":") if text else []
    found["build_id"] = (re.findall(r"Build ID: ([0-9a-f]+)", notes) or [""])[0]
    needs, definitions, part, versions = {}, [], "", None
    for line in output(READELF, "-VW", path).splitlines():
        if line.startswith("Version "):
            part = line.split()[1]
        if part == "needs" and (library := re.search(r"File: (\S+)  Cnt", line)):
            versions = needs.setdefault(library[1], set())
        if part == "needs" and (name := re.search(r"Name: (\S+)  Flags", line)):
            versions.add(name[1])
        if part == "definition" and (name := re.search(r"Flags: (.*)  Index.*Name: (.*)$", line)):
            if "BASE" not in name[1]:
                definitions.append(name[2])
    found["version_needs"] = needs
    found["version_definitions"] = definitions
    return found


def note_facts(path):
    """Kernels of a code object by llvm-readelf: name -> numbers."""
    kernels = {}
    for block in re.split(r"\n  - ", output(LLVM_READELF, "--notes", str(path))):
        value = lambda key: (re.search(rf"^\s*\.{key}:\s+(.*)$", block, re.M) or ["", "0"])[1]
        if ".symbol:" in block:
            kernels[value("name")] = {ours: int(value(key)) for ours, key in NOTE_KEYS.items()}
    return kernels


class Inspect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def compile(self, name, *options):
        """Compiles KERNELS for GPUs without a ROCm installation."""
        if CLANG is None:
            self.skipTest("clang++-19 is not installed")
        source = self.folder / "kernels.cpp"
        source.write_text(KERNELS)
        made = self.folder / name
        command = [CLANG, "-x", "hip", "-nogpulib", "-nogpuinc", "-O2", "--offload-device-only", *options, source,
                   "-o", made]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode != 0:
            self.skipTest(f"clang++-19 does not compile for these targets: {finished.stderr.strip()[-200:]}")
        return made

    @unittest.skipUnless(READELF and LIBRARIES.is_dir(), "no readelf, or no folder of x86_64 libraries")
    def test_libraries_of_this_machine_agree_with_readelf(self):
        files = sorted(path for path in LIBRARIES.glob("*.so*") if path.is_file() and not path.is_symlink())
        files = [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreater(len(files), 10)
        for path in files[:: max(1, len(files) // 50)] + [LIBRARIES / "libc.so.6"]:
            report = inspect_json(path)
            theirs = readelf_facts(path)
            ours = {key: report["elf"][key] for key in theirs}
            ours["version_needs"] = {need["library"]: set(need["versions"]) for need in ours["version_needs"]}
            self.assertEqual(ours, theirs, path)
            self.assertEqual(report["kind"], "library", path)

    @unittest.skipUnless(READELF and LIBRARIES.is_dir(), "no readelf, or no folder of x86_64 libraries")
    def test_exports_agree_with_readelf(self):
        path = LIBRARIES / "libz.so.1"
        if not path.exists():
            self.skipTest(f"{path} is not there")
        theirs = set()
        for line in output(READELF, "--dyn-syms", "-W", str(path)).splitlines():
            parts = line.split()
            if len(parts) >= 8 and parts[4] in ("GLOBAL", "WEAK") and parts[6] != "UND":
                theirs.add(parts[7].split("@")[0])
        self.assertEqual(set(inspect_json("--exports", path)["elf"]["exports"]), theirs)
        self.assertIsNone(inspect_json(path)["elf"]["exports"])
        self.assertIn("    inflate\n", run("inspect", "--exports", path).stdout)

    def test_a_code_object_agrees_with_llvm_readelf(self):
        if LLVM_READELF is None:
            self.skipTest("llvm-readelf-19 is not installed")
        for target in ("gfx1201", "gfx1100", "gfx90a:xnack-", "gfx942"):
            made = self.compile("one.hsaco", f"--offload-arch={target}", "--no-gpu-bundle-output")
            report = inspect_json(made)
            self.assertEqual(report["kind"], "code-object")
            self.assertEqual(report["targets"], [target])
            (code,) = report["code_objects"]
            ours = {k["name"]: {key: k[key] for key in NOTE_KEYS} for k in code["kernels"]}
            theirs = note_facts(made)
            self.assertEqual(len(theirs), 2)
            self.assertEqual(ours, theirs)
            self.assertEqual([k["contradictions"] for k in code["kernels"]], [[], []])
            text = run("inspect", made).stdout
            self.assertIn(f"{target}, code object version {code['code_object_version']}", text)
            for name in theirs:
                self.assertIn(f"  {name}\n", text)

    def test_bundles_plain_and_compressed_list_every_target(self):
        if BUNDLER is None:
            self.skipTest("clang-offload-bundler-19 is not installed")
        targets = ["gfx1100", "gfx1201", "gfx90a:xnack+"]
        architectures = [f"--offload-arch={target}" for target in targets]
        for options in ([], ["--offload-compress"]):
            made = self.compile("bundle.hipfb", *architectures, "--gpu-bundle-output", *options)
            report = inspect_json(made)
            self.assertEqual(report["kind"], "bundle")
            self.assertEqual(report["targets"], targets)
            self.assertEqual(report["device_code"]["compressed"], bool(options))
            self.assertTrue(report["device_code"]["complete"])
            self.assertEqual({o["target"] for o in report["code_objects"]}, set(targets))
            for code in report["code_objects"]:
                self.assertEqual({k["name"].split("Pf")[0] for k in code["kernels"]}, {"_Z3add", "_Z4keep"})
            ids = {o["bundle_id"] for o in report["code_objects"]}
            listed = output(BUNDLER, "--list", "--type=o", f"--input={made}").split()
            self.assertEqual(ids, {line for line in listed if not line.startswith("host")})

    def test_a_library_of_two_sources_with_code_for_gpus(self):
        if CLANG is None or BUNDLER is None:
            self.skipTest("clang++-19 or clang-offload-bundler-19 is not installed")
        objects = []
        for name, options in (("one", []), ("two", ["--offload-compress"])):
            source = self.folder / f"{name}.cpp"
            source.write_text(HOST_SOURCE.replace("NAME", name))
            made = self.folder / f"{name}.o"
            command = [CLANG, "-x", "hip", "-nogpulib", "-nogpuinc", "--offload-arch=gfx1201", "--offload-arch=gfx1100",
                       "-fPIC", "-O2", *options, "-c", source, "-o", made]
            finished = subprocess.run(command, capture_output=True, text=True, check=False)
            if finished.returncode != 0:
                self.skipTest(f"clang++-19 makes no such object here: {finished.stderr.strip()[-200:]}")
            objects.append(made)
            report = inspect_json(made)
            self.assertEqual(report["kind"], "object")
            self.assertEqual(report["targets"], ["gfx1100", "gfx1201"])
            self.assertEqual(report["device_code"]["compressed"], bool(options))
        library = self.folder / "libboth.so"
        subprocess.run([CLANG, "-shared", *objects, "-o", library, "-Wl,-soname,libboth.so.1"], check=True)
        report = inspect_json(library)
        self.assertEqual(report["kind"], "library")
        self.assertEqual(report["elf"]["soname"], "libboth.so.1")
        self.assertEqual(report["targets"], ["gfx1100", "gfx1201"])
        self.assertEqual(report["device_code"],
                         {"in_file": True, "bundles": 2, "compressed": True, "complete": True, "incomplete": ""})
        kernels = [(o["target"], k["name"]) for o in report["code_objects"] for k in o["kernels"]]
        self.assertEqual(sorted(kernels), [(target, name) for target in ("gfx1100", "gfx1201")
                                           for name in ("_Z3onePi", "_Z3twoPi")])

    def test_a_kpack_file_is_told_by_its_name(self):
        path = self.folder / "blas_lib_gfx1201.kpack"
        path.write_bytes(b"whatever")
        report = inspect_json(path)
        self.assertEqual((report["kind"], report["targets"]), ("kpack", ["gfx1201"]))
        self.assertIn("name alone", run("inspect", path).stdout)

    def test_the_program_itself(self):
        from binary import BINARY

        report = inspect_json(BINARY)
        self.assertEqual(report["kind"], "program")
        self.assertIn("libc.so.6", report["elf"]["needed"])
        self.assertIsNone(report["device_code"])
        for line in run("inspect", BINARY).stdout.splitlines():
            self.assertTrue(len(line) <= 80 or " " not in line.strip(), line)

    def test_what_is_no_such_file_is_2_with_one_line(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        secret = self.folder / "secret"
        secret.write_bytes(b"\x7fELF")
        secret.chmod(0)
        empty = self.folder / "empty"
        empty.write_bytes(b"")
        text = self.folder / "text"
        text.write_text("hello\n")
        short = self.folder / "short"
        short.write_bytes(pathlib.Path(shutil.which("python3")).read_bytes()[:3000])
        half_bundle = self.folder / "half"
        half_bundle.write_bytes(b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 8)
        cases = {
            self.folder / "missing": "no such file or directory; check the name",
            self.folder: "is a directory; name a file in it",
            fifo: "not a regular file; name a library",
            pathlib.Path("/dev/null"): "not a regular file; name a library",
            empty: "the file is empty; if it was copied, downloaded or installed, do that again",
            text: "neither an ELF file nor an offload bundle; name a library",
            short: "damaged ELF file",
            half_bundle: "damaged offload bundle",
        }
        if os.geteuid() != 0:
            cases[secret] = "permission denied; ask as a user who may read it"
        for path, reason in cases.items():
            finished = run("inspect", path)
            self.assertEqual(finished.returncode, 2, path)
            self.assertEqual(finished.stdout, "", path)
            self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
            self.assertIn(f"{path}: ", finished.stderr)
            self.assertIn(reason, finished.stderr)

    def test_a_hostile_file_name_does_not_reach_the_terminal(self):
        path = self.folder / "a\x1b[31mb"
        self.assertNotIn("\x1b", run("inspect", path).stderr)
        shutil.copy(shutil.which("true"), path)
        self.assertNotIn("\x1b", run("inspect", path).stdout)
        self.assertNotIn("\x1b", run("inspect", "--json", path).stdout)

    def test_usage(self):
        self.assertEqual(run("inspect").returncode, 2)
        self.assertIn("FILE", run("inspect", "--help").stdout)

    def test_the_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)


if __name__ == "__main__":
    main()
