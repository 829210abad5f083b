#!/usr/bin/env python3
"""Wall time and peak memory of `sage-doctor check`, and the ratio to rocminfo and rocm_agent_enumerator where they are
installed. The commands run in turn, so that a slow moment of the machine meets all of them.

    python3 tests/bench/check_speed.py build/release/sage-doctor [--runs 21]
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time


def wall_seconds(command, environment=None):
    """Wall seconds of one run."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def peak_mib(command, environment=None):
    """Peak resident MiB of one run by GNU time; None without it. Asked of wait4() here, the answer would be at least
    this interpreter's own size, which a forked child has before it executes the command."""
    if not shutil.which("time"):
        return None
    finished = subprocess.run([shutil.which("time"), "-f", "peak %M", *command], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return int(finished.stderr.rsplit("peak ", 1)[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=21)
    arguments = parser.parse_args()

    commands = {"sage-doctor check": [arguments.binary, "check"]}
    for name in ("rocminfo", "rocm_agent_enumerator"):
        if shutil.which(name):
            commands[name] = [name]
        else:
            print(f"{name}: not installed, no ratio", file=sys.stderr)

    samples = {name: [] for name in commands}
    for run in range(arguments.runs + 1):
        for name, command in commands.items():
            seconds = wall_seconds(command)
            if run > 0:  # the first round warms the caches
                samples[name].append(seconds)

    base = statistics.median(samples["sage-doctor check"])
    print(f"{'command':24} {'min ms':>8} {'median ms':>10} {'max ms':>8} {'peak MiB':>9} {'ratio':>7}")
    for name, seconds in samples.items():
        median = statistics.median(seconds)
        peak = peak_mib(commands[name])
        shown = "-" if peak is None else f"{peak:.1f}"
        print(f"{name:24} {min(seconds) * 1e3:8.1f} {median * 1e3:10.1f} {max(seconds) * 1e3:8.1f} {shown:>9} "
              f"{median / base:6.1f}x")


if __name__ == "__main__":
    main()
