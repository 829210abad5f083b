"""Where output goes: closed and full stdout, terminals, colours, narrow windows, a bare environment."""

import os
import subprocess
import unittest

from binary import BARE_ENVIRONMENT, BINARY, CAPTURES, run, run_on_terminal

NO_GPU = CAPTURES / "no-gpu"


class Output(unittest.TestCase):
    def test_a_reader_who_goes_away_is_no_error(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        finished = subprocess.run([BINARY, "check", "--capture", NO_GPU], stdout=write_end, stderr=subprocess.PIPE,
                                  env=BARE_ENVIRONMENT, timeout=60)
        os.close(write_end)
        self.assertEqual(finished.returncode, 1)
        self.assertEqual(finished.stderr, b"")

    def test_a_closed_stdout_is_no_error(self):
        finished = subprocess.run(["sh", "-c", 'exec "$0" check --capture "$1" >&-', BINARY, NO_GPU],
                                  stderr=subprocess.PIPE, env=BARE_ENVIRONMENT, timeout=60)
        self.assertEqual(finished.returncode, 1)
        self.assertEqual(finished.stderr, b"")

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            finished = run("check", "--capture", NO_GPU, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(finished.returncode, 2)
        self.assertIn("no space left", finished.stderr)

    def test_colour_only_on_a_terminal_that_wants_it(self):
        escape = "\033["
        arguments = ("check", "--capture", NO_GPU)
        self.assertNotIn(escape, run(*arguments).stdout)
        self.assertIn(escape, run(*arguments, "--color", "always").stdout)
        self.assertIn(escape, run_on_terminal(*arguments))
        self.assertNotIn(escape, run_on_terminal(*arguments, "--color", "never"))
        for name, value in (("NO_COLOR", "1"), ("CI", "true"), ("TERM", "dumb")):
            self.assertNotIn(escape, run_on_terminal(*arguments, environment={**BARE_ENVIRONMENT, name: value}), name)

    def test_twenty_columns(self):
        for path in sorted(CAPTURES.glob("*/capture.toml")):
            finished = run("check", "-v", "--capture", path.parent, environment={**BARE_ENVIRONMENT, "COLUMNS": "20"})
            self.assertIn(finished.returncode, (0, 1), path)
            # Lines of several words fit; a longer line holds one word, or a command, which must stay whole.
            for line in finished.stdout.splitlines():
                if len(line) > 20 and len(line.split()) > 2 and not line.startswith(("  ", "FAIL", "WARN", "ok", "info")):
                    self.fail(f"{path}: {line!r}")

    def test_without_home_and_locale(self):
        for environment in ({}, {"HOME": ""}, {"HOME": "relative"}, {"LC_ALL": "xx_YY.UTF-8", "COLUMNS": "abc"}):
            finished = run("check", "--capture", NO_GPU, environment=environment)
            self.assertEqual(finished.returncode, 1)
            self.assertIn("gpu.present", finished.stdout)
            self.assertIn(run("check", environment=environment).returncode, (0, 1))


if __name__ == "__main__":
    unittest.main()
