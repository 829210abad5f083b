"""Runs the built sage-doctor as a user would. SAGE_DOCTOR names the binary, SAGE_SOURCE the source tree."""

import json
import os
import pathlib
import pty
import subprocess
import sys
import unittest

BINARY = os.environ["SAGE_DOCTOR"]
SOURCE = pathlib.Path(os.environ["SAGE_SOURCE"])
CAPTURES = SOURCE / "tests" / "captures"
CAPTURE_NAMES = sorted(path.parent.name for path in CAPTURES.glob("*/capture.toml"))

# Nothing of the developer's own environment may decide a test.
BARE_ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm"}


def run(*arguments, environment=None, **options):
    """The finished process, with stdout and stderr as text."""
    return subprocess.run(
        [BINARY, *map(str, arguments)],
        env=BARE_ENVIRONMENT if environment is None else environment,
        stdin=subprocess.DEVNULL,
        capture_output="stdout" not in options and "stderr" not in options,
        text=True,
        timeout=60,
        **options,
    )


def check_json(*arguments, **options):
    """The report of check --json."""
    finished = run("check", "--json", *arguments, **options)
    assert finished.returncode in (0, 1), finished.stderr
    return json.loads(finished.stdout)


def run_deep(*arguments, environment=None):
    """The report of check --deep --json."""
    finished = subprocess.run(
        [BINARY, "check", "--deep", "--json", "--no-redact", *map(str, arguments)],
        env=BARE_ENVIRONMENT if environment is None else environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert finished.returncode in (0, 1), finished.stderr
    return json.loads(finished.stdout)


def main():
    """unittest.main() for files whose tests need something installed: says why a test was skipped, and exits with 77,
    which ctest calls skipped, when that was all of them."""
    result = unittest.main(module="__main__", exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}", file=sys.stderr)
    if not result.wasSuccessful():
        sys.exit(1)
    all_skipped = result.skipped and result.testsRun <= len(result.skipped)
    sys.exit(77 if all_skipped else 0)


def run_on_terminal(*arguments, environment=None):
    """What the program prints when stdout is a terminal."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [BINARY, *map(str, arguments)],
        env=BARE_ENVIRONMENT if environment is None else environment,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    output = b""
    while True:
        try:
            block = os.read(controller, 65536)
        except OSError:  # EIO: the last writer is gone
            break
        if not block:
            break
        output += block
    os.close(controller)
    process.wait(timeout=60)
    return output.decode()
