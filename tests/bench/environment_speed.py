#!/usr/bin/env python3
"""What a full Python environment costs: `sage-doctor check` in a made-up home with a venv of 300 packages, three ROCm
trees and libraries of a gigabyte, against a bare `check`; and the search for runtime copies against find(1).

    python3 tests/bench/environment_speed.py build/release/sage-doctor [--runs 21] [--no-find]

The libraries are real ELF files made with cc and stretched (sparse): the size of a torch wheel's, and no disk used. `python3 -c "import torch"` is timed too where torch is installed.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from check_speed import peak_mib, wall_seconds

GIBIBYTE = 1 << 30


def make_library(path, soname, extra=()):
    """A shared library of a gigabyte."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-shared", "-nostdlib", "-x", "c", "/dev/null", "-o", str(path), f"-Wl,-soname,{soname}",
                    *extra], check=True)
    os.truncate(path, GIBIBYTE)


def make_rocm(root, version):
    (root / ".info").mkdir(parents=True)
    (root / ".info/version").write_text(version + "\n")
    (root / "bin").mkdir()
    (root / "include/hip").mkdir(parents=True)
    (root / "include/hip/hip_runtime.h").write_text("")
    for stem, major in (("libamdhip64", "7"), ("libhsa-runtime64", "1"), ("libamd_comgr", "3"), ("libhiprtc", "7")):
        make_library(root / f"lib/{stem}.so.{major}", f"{stem}.so.{major}")
        (root / f"lib/{stem}.so").symlink_to(f"{stem}.so.{major}")


def make_venv(venv):
    site = venv / "lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin/python3").symlink_to(sys.executable)
    (venv / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\nversion = 3.12.3\n")
    for number in range(300):
        name = f"package_{number}"
        (site / name).mkdir()
        info = site / f"{name}-1.{number}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.{number}\n")
    torch = site / "torch"
    (torch / "lib/rocblas/library").mkdir(parents=True)
    for number in range(2000):
        (torch / f"lib/rocblas/library/Kernels{number}_gfx1201.hsaco").touch()
    (torch / "version.py").write_text("__version__ = '2.9.1+rocm7.2.0'\ncuda = None\nhip = '7.2.26015'\n")
    info = site / "torch-2.9.1+rocm7.2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1+rocm7.2.0\n")
    (info / "RECORD").write_text("torch/x,sha256=0,1\n" * 200_000)
    rpath = ("-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags")
    for stem, soname in (("libamdhip64", "libamdhip64.so.7"), ("libhsa-runtime64", "libhsa-runtime64.so.1"),
                         ("libamd_comgr", "libamd_comgr.so.3"), ("libhiprtc", "libhiprtc.so.7"),
                         ("libc10_hip", "libc10_hip.so"), ("libtorch_hip", "libtorch_hip.so")):
        make_library(torch / f"lib/{stem}.so", soname, rpath)


def compare(commands, runs, environment):
    """Prints a table; the commands run in turn, so that a slow moment of the machine meets all of them."""
    samples = {name: [] for name in commands}
    for run in range(runs + 1):
        for name, command in commands.items():
            seconds = wall_seconds(command, environment.get(name))
            if run > 0:  # the first round warms the caches
                samples[name].append(seconds)
    base = statistics.median(next(iter(samples.values())))
    print(f"{'command':34} {'min ms':>9} {'median ms':>10} {'max ms':>9} {'peak MiB':>9} {'ratio':>7}")
    for name, seconds in samples.items():
        median = statistics.median(seconds)
        peak = peak_mib(commands[name], environment.get(name))
        shown = "-" if peak is None else f"{peak:.1f}"
        print(f"{name:34} {min(seconds) * 1e3:9.1f} {median * 1e3:10.1f} {max(seconds) * 1e3:9.1f} {shown:>9} "
              f"{median / base:6.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--no-find", action="store_true", help="leave the search of the whole machine out")
    arguments = parser.parse_args()
    binary = str(Path(arguments.binary).resolve())

    with tempfile.TemporaryDirectory(prefix="sage-bench-") as folder:
        base = Path(folder)
        roots = [base / f"rocm-7.{minor}" for minor in range(3)]
        for minor, root in enumerate(roots):
            make_rocm(root, f"7.{minor}.0")
        make_venv(base / "venv")
        config = base / "sage-doctor.toml"
        config.write_text(f"search_paths = {[str(root) for root in roots]!r}\n".replace("'", '"'))
        full = dict(os.environ, VIRTUAL_ENV=str(base / "venv"), PATH=f"{base / 'venv/bin'}:{os.environ['PATH']}")

        name = "check, 300 packages, 3 ROCm trees"
        commands = {name: [binary, "check", "--config", str(config)], "check, bare": [binary, "check"]}
        environment = {name: full}
        if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
            commands['python3 -c "import torch"'] = [sys.executable, "-c", "import torch"]
        else:
            print("torch: not installed, no ratio", file=sys.stderr)
        compare(commands, arguments.runs, environment)

        if not arguments.no_find and shutil.which("find"):
            print()
            compare({"libs": [binary, "libs", "--config", str(config)],
                     "find / -name 'libamdhip64.so*'": ["find", "/", "-name", "libamdhip64.so*"]}, 3, {"libs": full})


if __name__ == "__main__":
    main()
