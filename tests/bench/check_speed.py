#!/usr/bin/env python3
"""Wall time and peak memory of `sage-doctor check`, and the ratio to rocminfo and rocm_agent_enumerator where they are
installed. The commands run in turn, so that a slow moment of the machine meets all of them.

    python3 tests/bench/check_speed.py build/release/sage-doctor [--runs 21]
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time


def measure(command):
    """Wall seconds and peak resident KiB of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - start, usage.ru_maxrss


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
            sample = measure(command)
            if run > 0:  # the first round warms the caches
                samples[name].append(sample)

    base = statistics.median(seconds for seconds, _ in samples["sage-doctor check"])
    print(f"{'command':24} {'min ms':>8} {'median ms':>10} {'max ms':>8} {'peak MiB':>9} {'ratio':>7}")
    for name, rows in samples.items():
        seconds = [row[0] for row in rows]
        median = statistics.median(seconds)
        peak = max(row[1] for row in rows) / 1024
        print(f"{name:24} {min(seconds) * 1e3:8.1f} {median * 1e3:10.1f} {max(seconds) * 1e3:8.1f} {peak:9.1f} "
              f"{median / base:6.1f}x")


if __name__ == "__main__":
    main()
