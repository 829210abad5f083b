"""Every report, live and of every capture, follows docs/json-schema.json."""

import json
import re
import unittest

import jsonschema

from binary import CAPTURE_NAMES, CAPTURES, SOURCE, check_json, run

SCHEMA = json.loads((SOURCE / "docs" / "json-schema.json").read_text())


class Json(unittest.TestCase):
    def test_reports_follow_the_schema(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)
        validator = jsonschema.Draft7Validator(SCHEMA)
        self.assertGreater(len(CAPTURE_NAMES), 20)
        for arguments in [(), *(("--capture", CAPTURES / name) for name in CAPTURE_NAMES)]:
            report = check_json(*arguments)
            problems = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(report)]
            self.assertEqual(problems, [], arguments)

    def test_text_and_json_say_the_same(self):
        for name in CAPTURE_NAMES:
            report = check_json("--capture", CAPTURES / name)
            text = run("check", "--quiet", "--capture", CAPTURES / name)
            problems = [f for f in report["findings"] if f["status"] in ("fail", "warn", "error")]
            for finding in problems:
                self.assertIn(finding["id"], text.stdout, name)
            # Findings that differ in their subject alone share a block, whose head counts the others.
            heads = [line for line in text.stdout.splitlines() if line.startswith(("FAIL ", "WARN ", "ERROR "))]
            more = [re.search(r" and (\d+) more$", line) for line in heads]
            self.assertEqual(len(problems), len(heads) + sum(int(found[1]) for found in more if found), name)
            self.assertEqual(text.returncode, 1 if report["summary"]["fail"] else 0, name)

    def test_strict_turns_a_warning_into_a_failure(self):
        seen = False
        for name in CAPTURE_NAMES:
            summary = check_json("--capture", CAPTURES / name)["summary"]
            if summary["warn"] and not summary["fail"]:
                seen = True
                self.assertEqual(run("check", "--capture", CAPTURES / name).returncode, 0, name)
                self.assertEqual(run("check", "--strict", "--capture", CAPTURES / name).returncode, 1, name)
        self.assertTrue(seen)


if __name__ == "__main__":
    unittest.main()
