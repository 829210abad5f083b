"""What other programs make of the scripts of `sage-doctor env`: Environment Modules, the runner of GitHub
Actions, readers of .env files, shellcheck, and the compilers that the scripts lead to."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from shells import (BARE, BINARY, ENV, ODD_ROOT, SPACED_ROOT, ShellTest, environment_of, expected_environment,
                    without_notes)


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


class Formats(ShellTest):
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
                    program = (f'. {start}; module use ./modules; {ENV} -0 > "$1.0"; module load amd; '
                               f'{ENV} -0 > "$1.1"; module unload amd; {ENV} -0 > "$1.2"')
                    finished = subprocess.run(["bash", "--norc", "-c", program, "bash", notes], cwd=self.folder,
                                              env={**BARE, "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": "/a b:/c", **own},
                                              capture_output=True, text=True, timeout=60, check=True)
                    self.assertEqual(finished.stderr, "")
                    blobs = [pathlib.Path(f"{notes}.{number}").read_bytes() for number in range(3)]
                    seen = [without_modules(environment_of(blob)) for blob in blobs]
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
        finished = subprocess.run(["sh", "-eu", "-c", f"set -a; . ./file; {ENV} -0"], cwd=self.folder,
                                  capture_output=True, env={}, timeout=60, check=True)
        seen = environment_of(finished.stdout)
        for name, value in self.finished(SPACED_ROOT).items():
            self.assertEqual(seen[name], value.encode())
        refused = self.script("dotenv", ODD_ROOT)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b"cannot write ROCM_PATH for dotenv", refused.stderr)

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
        """Debian's compiler laid out as AMD's packages are: its hipcc and its clang compile, with the device libraries
        of the tree."""
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
                source = "#include <hip/hip_runtime.h>\n__global__ void f(float* x) { *x = sinf(*x); }\n"
                (self.folder / "a.hip").write_text(source, encoding="utf-8")
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
