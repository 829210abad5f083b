"""sage-doctor diagnose: what logs say, with and without a machine; input that is hostile, huge or no log at all."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import jsonschema

from binary import BARE_ENVIRONMENT, BINARY, CAPTURES, SOURCE, run

SCHEMA = json.loads((SOURCE / "docs" / "json-schema.json").read_text())
REFUSED = "Unable to open /dev/kfd read-write: Permission denied"
FIRST = re.compile(r"^(FAIL|WARN|info|ERROR) +(\S+)", re.M)


def diagnose(log, *arguments, environment=None):
    """The finished process, fed with `log` (text or bytes) by a pipe; stdout and stderr are text."""
    finished = subprocess.run([BINARY, "diagnose", *map(str, arguments)], input=log.encode() if isinstance(log, str) else log,
                              capture_output=True, env=environment or BARE_ENVIRONMENT, timeout=120)
    finished.stdout, finished.stderr = finished.stdout.decode(), finished.stderr.decode()
    return finished


def flat(text):
    """Without the line breaks of 80 columns."""
    return " ".join(text.split())


def report_of(log, *arguments):
    finished = diagnose(log, "--json", *arguments)
    return json.loads(finished.stdout), finished.returncode


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


class Verdicts(Folder):
    def test_a_log_alone_names_the_cause_and_what_would_decide(self):
        log = self.write("build.log", f"first line\n{REFUSED}\nRuntimeError: No HIP GPUs are available\n")
        finished = run("diagnose", "--log-only", log)
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertEqual(FIRST.findall(finished.stdout), [("FAIL", "device.kfd-access")], finished.stdout)
        for words in ("log build.log", "no machine looked at", f"build.log:2: {REFUSED}", "Not confirmed: no machine was looked at",
                      "Decide it: ", "More: sage-doctor explain device.kfd-access"):
            self.assertIn(words, flat(finished.stdout))
        self.assertRegex(finished.stdout.splitlines()[-1], r"^1 problem \(3 lines, \d+ B, \d+ rules\)$")
        self.assertEqual(finished.stderr, "")

    def test_the_machine_confirms(self):
        report, status = report_of(REFUSED + "\n", "--capture", CAPTURES / "user-not-in-render")
        self.assertEqual(status, 1)
        (finding,) = report["findings"]
        self.assertEqual((finding["id"], finding["status"], finding["confidence"]), ("device.kfd-access", "fail", "certain"))
        self.assertIn("This machine confirms it", finding["observed"])
        self.assertEqual(finding["evidence"][0], {"source": "stdin:1", "value": REFUSED})
        self.assertGreater(len(finding["evidence"]), 1)
        self.assertTrue(report["log"]["machine"])

    def test_the_machine_excludes(self):
        report, status = report_of(REFUSED + "\n", "--capture", CAPTURES / "healthy-9070xt")
        self.assertEqual(status, 0)
        (finding,) = report["findings"]
        self.assertEqual((finding["id"], finding["status"]), ("device.kfd-access", "warn"))
        self.assertIn("does not show it now", finding["observed"])
        self.assertEqual(report["log"]["guesses"], [], "a known message wants no guess, least of all itself")
        self.assertIn("excluded here, device.kfd-access", [row["source"] for row in finding["evidence"]])
        self.assertEqual(report_of(REFUSED + "\n", "--strict", "--capture", CAPTURES / "healthy-9070xt")[1], 1)

    def test_the_same_text_has_the_cause_that_the_machine_shows(self):
        log = "RuntimeError: No HIP GPUs are available\n"
        expected = {"venv-cuda-torch": "python.torch-flavour", "user-not-in-render": "device.kfd-access"}
        for capture, finding in expected.items():
            report, status = report_of(log, "--capture", CAPTURES / capture)
            failures = [row["id"] for row in report["findings"] if row["status"] == "fail"]
            self.assertEqual((failures[:1], status), ([finding], 1), capture)

    def test_unknown_text_is_3_and_says_so(self):
        finished = diagnose("all is well\nkernel launch: unable to open the device /dev/kfd for read and write\n", "--log-only")
        self.assertEqual(finished.returncode, 3)
        self.assertEqual(FIRST.findall(finished.stdout), [])
        for words in ("No rule knows what this log says", "stdin:2: kernel launch", "Guesses, not a diagnosis", "device.kfd", "shares: "):
            self.assertIn(words, flat(finished.stdout))
        self.assertTrue(finished.stdout.splitlines()[-1].startswith("Nothing known found (2 lines, "))
        report, status = report_of("all is well\n", "--log-only")
        self.assertEqual((status, report["findings"], report["log"]["matched"], report["log"]["unknown_lines"]), (3, [], [], []))

    def test_reports_follow_the_schema(self):
        validator = jsonschema.Draft7Validator(SCHEMA)
        logs = [REFUSED, "nothing", "open /dev/kfd read-write failed: denied", "x\n" * 1000]
        for log in logs:
            for arguments in (["--log-only"], ["--capture", CAPTURES / "healthy-wsl2-rocm72"], []):
                report, _ = report_of(log, *arguments)
                self.assertEqual([error.message for error in validator.iter_errors(report)], [], (log, arguments))
        report, _ = report_of(REFUSED, "--log-only")
        self.assertEqual(report["tool"]["source"], "none")
        self.assertEqual(report["log"]["matched"], [{"rule": report["log"]["matched"][0]["rule"], "lines": 1, "first_line": 1}])
        del report["log"]["lines"]
        self.assertFalse(validator.is_valid(report))

    def test_json_is_redacted_with_the_text_of_the_log(self):
        log = f"/home/jodoe/venv/lib: {REFUSED}\n"
        report = diagnose(log, "--log-only", "--json").stdout
        self.assertNotIn("jodoe", report)
        self.assertRegex(report, r"/home/user\d/venv/lib")
        self.assertIn("jodoe", diagnose(log, "--log-only", "--json", "--no-redact").stdout)
        unknown = "error: /home/jodoe/x gave up\n"
        self.assertNotIn("jodoe", diagnose(unknown, "--log-only", "--json").stdout)

    def test_every_format_tells_the_same(self):
        for log, status, words in ((REFUSED, 1, ("device.kfd-access", REFUSED, "Decide it")),
                                   ("error: open of /dev/kfd, read and write: denied", 3, ("No rule knows", "stdin:1: error: open of /dev/kfd"))):
            for form in ("text", "markdown", "html", "sarif", "junit"):
                finished = diagnose(log, "--log-only", "--format", form)
                self.assertEqual(finished.returncode, status, form)
                for word in words if status == 1 or form in ("text", "markdown", "html") else ():
                    self.assertIn(word, flat(finished.stdout).replace("\\_", "_"), form)

    def test_tracebacks_show_the_exception_and_its_last_frames(self):
        log = ("Traceback (most recent call last):\n" + '  File "/a.py", line 1, in <module>\n    f()\n' * 5 +
               '  File "/b.py", line 7, in g\n    raise RuntimeError(x)\nRuntimeError: No HIP GPUs are available\n')
        finished = diagnose(log, "--log-only")
        self.assertIn('stdin:12: File "/b.py", line 7, in g', flat(finished.stdout))
        self.assertIn("stdin:14: RuntimeError: No HIP GPUs are available", flat(finished.stdout))
        self.assertNotIn("stdin:2:", finished.stdout)
        unknown = diagnose(log.replace("No HIP GPUs are available", "it rains"), "--log-only")
        self.assertEqual(unknown.returncode, 3)
        self.assertIn("stdin:14: RuntimeError: it rains", unknown.stdout)

    def test_80_columns(self):
        for log in (REFUSED, "RuntimeError: No HIP GPUs are available", "error: open of /dev/kfd, read-write, is denied"):
            for line in diagnose(log, "--log-only").stdout.splitlines():
                command = line.lstrip().startswith(("Decide it:", "Check it:", "More:", "sudo ", "python", "sage-doctor"))
                self.assertTrue(len(line) <= 80 or command, line)


class Input(Folder):
    def expect_refused(self, finished):
        self.assertIn(REFUSED, flat(finished.stdout), finished.stderr)
        self.assertEqual(finished.returncode, 1, finished.stdout + finished.stderr)

    def test_encodings_line_ends_and_colours(self):
        for codec in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
            self.expect_refused(diagnose((REFUSED + "\r\nsecond line\r\n").encode(codec), "--log-only"))
        coloured = REFUSED.replace("open", "\033[1mop\033[0men").replace("Permission", "\033]8;;x\033\\Permission\033]8;;\033\\")
        self.expect_refused(diagnose(coloured, "--log-only"))
        self.expect_refused(diagnose("10%\r20%\r" + REFUSED + "\r30%\n", "--log-only"))
        self.expect_refused(diagnose(REFUSED.replace("U", "U\0"), "--log-only"))

    def test_captured_text_can_not_play_with_the_terminal(self):
        hostile = f"\033]0;evil\a\033[2J{REFUSED} \u202e\u009b31m\x07 \ud83d".encode("utf-8", "surrogatepass") + b"\xff\n"
        self.assertIn(REFUSED, flat(diagnose(hostile, "--log-only").stdout))
        for log in (hostile, hostile.replace(b"kfd", b"xyz").replace(b"Unable", b"error: unable")):
            for arguments in ([], ["--json"]):
                output = diagnose(log, "--log-only", *arguments).stdout
                for character in ("\033", "\a", "\u202e", "\u009b"):
                    self.assertNotIn(character, output)

    def test_lines_of_any_length(self):
        for before, after in ((300_000, 10), (10, 300_000), (10_000_000, 10_000_000)):
            finished = diagnose("x" * before + " " + REFUSED + " " + "y" * after, "--log-only")
            self.expect_refused(finished)
            self.assertLess(len(finished.stdout), 4000)

    def test_binary_junk_is_unknown(self):
        junk = bytes((i * 7919 + (i >> 3)) % 256 for i in range(200_000))
        self.assertEqual(diagnose(junk, "--log-only").returncode, 3)
        self.expect_refused(diagnose(junk + b"\n" + REFUSED.encode() + b"\n" + junk, "--log-only"))

    def test_interleaved_builds(self):
        log = "".join(f"[{i}/400] c++ -Werror -o x{i}.o\nx{i}.cpp:1: note: an error\n" for i in range(400)) + REFUSED + "\nninja: build stopped: subcommand failed.\n"
        finished = diagnose(log, "--log-only")
        self.assertEqual(FIRST.findall(finished.stdout), [("FAIL", "device.kfd-access")])
        self.assertIn("stdin:801", finished.stdout)

    def test_what_is_no_log_is_2_with_the_way_out(self):
        secret = self.write("secret", REFUSED)
        secret.chmod(0)
        cases = {self.folder: "is a folder", self.folder / "none": "2>&1", self.write("empty", ""): "2>&1",
                 self.write("log.gz", b"\x1f\x8b\x08\x00rest"): "zcat"}
        if os.getuid() != 0:
            cases[secret] = "Permission denied"
        for path, words in cases.items():
            finished = run("diagnose", path)
            self.assertEqual((finished.returncode, finished.stdout), (2, ""), path)
            self.assertIn(words, finished.stderr)
        self.assertEqual(diagnose("").returncode, 2)

    def test_wrong_usage(self):
        log = self.write("log", REFUSED)
        for arguments in (["--log-only", "--capture", CAPTURES / "no-gpu", log], [log, "another"], ["--format", "none", log],
                          ["--capture", self.folder, log]):
            finished = run("diagnose", *arguments)
            self.assertEqual((finished.returncode, finished.stdout), (2, ""), arguments)
            self.assertNotEqual(finished.stderr, "")

    def test_standard_input_by_its_names(self):
        self.expect_refused(diagnose(REFUSED, "--log-only"))
        self.expect_refused(diagnose(REFUSED, "--log-only", "-"))
        self.expect_refused(diagnose(REFUSED, "--log-only", "/dev/stdin"))

    def test_a_fifo_is_read_when_somebody_writes_to_it(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        process = subprocess.Popen([BINARY, "diagnose", "--log-only", fifo], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=BARE_ENVIRONMENT, text=True)
        self.assertIn("waiting", process.stderr.readline())
        threading.Thread(target=lambda: fifo.write_text(REFUSED + "\n")).start()
        output, _ = process.communicate(timeout=60)
        self.assertIn(f"fifo:1: {REFUSED}", output)
        self.assertEqual(process.returncode, 1)

    def test_a_pipe_that_somebody_made_non_blocking_is_waited_for(self):
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        process = subprocess.Popen([BINARY, "diagnose", "--log-only"], stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=BARE_ENVIRONMENT, text=True)
        os.close(reading)
        with self.assertRaises(subprocess.TimeoutExpired, msg="it ended before anything was written"):
            process.wait(timeout=1)
        with open(writing, "w") as pipe:
            pipe.write(REFUSED + "\n")
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (1, ""))
        self.assertIn(f"stdin:1: {REFUSED}", output)

    def start_at_terminal(self):
        controller, terminal = pty.openpty()
        self.addCleanup(os.close, controller)
        process = subprocess.Popen([BINARY, "diagnose", "--log-only"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=BARE_ENVIRONMENT, text=True, start_new_session=True)
        os.close(terminal)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.assertIn("Ctrl-D", process.stderr.readline())
        return process, controller

    def test_a_terminal_is_told_what_is_waited_for(self):
        process, controller = self.start_at_terminal()
        os.write(controller, (REFUSED + "\n\x04").encode())
        output, _ = process.communicate(timeout=60)
        self.assertIn(f"stdin:1: {REFUSED}", output)

    def test_an_interrupt_ends_it(self):
        process, _ = self.start_at_terminal()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)
        self.assertEqual(process.stdout.read(), "")

    @unittest.skipIf(os.environ.get("SAGE_SANITIZE") == "ON", "a sanitizer maps terabytes of address space")
    def test_memory_does_not_grow_with_the_log(self):
        """200 MB of lines and of one line, with the address space held at 300 MB."""
        program = ("import resource, os, sys; resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20)); "
                   "os.execv(sys.argv[1], sys.argv[1:])")
        for block in (b"c++: error: something that no rule knows, and a number 12\n" * 2000, b"a" * 100_000):
            process = subprocess.Popen(["python3", "-c", program, BINARY, "diagnose", "--log-only"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, env=BARE_ENVIRONMENT)
            for _ in range(200_000_000 // len(block)):
                process.stdin.write(block)
            output, _ = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 3)
            self.assertIn(b"Nothing known found", output)


if __name__ == "__main__":
    unittest.main()
