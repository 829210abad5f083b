"""What the commands write as JSON, live and of every capture, follows the schemas in docs."""

import json
import re
import unittest

import jsonschema

from binary import CAPTURE_NAMES, CAPTURES, SOURCE, check_json, run



def schema(name):
    found = json.loads((SOURCE / "docs" / name).read_text())
    jsonschema.Draft7Validator.check_schema(found)
    return found


SCHEMA = schema("json-schema.json")
MACHINES = [(), *(("--capture", CAPTURES / name) for name in CAPTURE_NAMES)]
# Of those whose names say that they are about libraries, compilers or Triton; each costs a run.
WITH_LIBRARIES = [(), *(machine for machine in MACHINES[1:] if machine[1].name.startswith(("libs-", "no-gpu")))]
WITH_COMPILERS = [(), *(machine for machine in MACHINES[1:] if machine[1].name.startswith(("toolchain-", "venv-triton")))]
SITE = "/home/user1/venv/lib/python3.12/site-packages"


def problems_of(validator, report):
    return [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(report)]


class Json(unittest.TestCase):
    def test_reports_follow_the_schema(self):
        validator = jsonschema.Draft7Validator(SCHEMA)
        self.assertGreater(len(CAPTURE_NAMES), 20)
        for arguments in MACHINES:
            self.assertEqual(problems_of(validator, check_json(*arguments)), [], arguments)

    def follows(self, validator, *arguments):
        finished = run(*arguments)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        report = json.loads(finished.stdout)
        self.assertEqual(problems_of(validator, report), [], arguments)
        return report

    def test_lists_of_libraries_follow_their_schema(self):
        found = schema("libs-schema.json")
        # The two forms apart: of "neither of both" one would learn nothing.
        lists, stories = (jsonschema.Draft7Validator({**found, "oneOf": [{"$ref": f"#/definitions/{form}"}]})
                          for form in ("list", "story"))
        copies = predictions = 0
        for arguments in WITH_LIBRARIES:
            libraries = self.follows(lists, "libs", "--json", *arguments)["libraries"]
            copies += len(libraries["copies"]) if isinstance(libraries["copies"], list) else 0
            predictions += len(libraries["predictions"]) if isinstance(libraries["predictions"], list) else 0
        self.assertGreater(min(copies, predictions), 20)
        capture = CAPTURES / "libs-extension-other-hip"
        story = self.follows(stories, "libs", "--json", "--capture", capture, "--program", "/home/user1/venv/bin/python3",
                             f"{SITE}/torch/lib/libtorch_hip.so", "--then", "libnone.so.1")
        self.assertEqual([stage["failed"] for stage in story["stages"]], [False, False, True])
        self.assertFalse(jsonschema.Draft7Validator(found).is_valid({**story, "libraries": {}}))

    def test_lists_of_compilers_follow_their_schema(self):
        validator = jsonschema.Draft7Validator(schema("toolchains-schema.json"))
        compilers = tritons = 0
        for arguments in [*WITH_COMPILERS, ("--capture", CAPTURES / "no-gpu", "--target", "sm_90")]:
            report = self.follows(validator, "toolchains", "--json", *arguments)
            compilers += len(report["compilers"])
            tritons += len(report["tritons"])
        self.assertGreater(compilers, 20)
        self.assertGreater(tritons, 2)
        self.assertFalse(validator.is_valid({**report, "more": 1}))

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
