"""Every case of tests/corpus: a log, a captured machine, or both, against the findings that they must give. Prints precision
and recall over the findings that fail or warn."""

import json
import re
import sys
import unittest

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

from binary import CAPTURES, SOURCE, run

CORPUS = SOURCE / "tests" / "corpus"
KEYS = {"row", "source", "title", "run", "capture", "first", "also", "words", "near_miss_of", "must_not"}
# Rows of the tables that the cases go through: the reports B1 to B34, the article's troubleshooting table, the symptoms of
# WSL2 and of wheels, and the steps of a build of SageAttention.
ROWS = ([f"B{n}" for n in range(1, 35)] + [f"article-2/{n}" for n in range(1, 12)] + [f"wsl-2.12/{n}" for n in range(1, 13)]
        + [f"wheels-2.10/{n}" for n in range(1, 15)] + [f"sage-5/{n}" for n in range(1, 8)])
WEIGHT = {"fail": 2, "warn": 1}


class Case:
    def __init__(self, folder):
        self.name = folder.name
        self.told = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
        log = folder / "log.txt"
        self.log = log if log.exists() else None

    def __getattr__(self, key):
        return self.told.get(key)

    def expected(self):
        """(finding, status) of all that must be found, the first cause first."""
        first = [self.first] if self.first else []
        return [(one["finding"], one["status"]) for one in first + (self.also or [])]

    def report(self):
        arguments = ["--json"]
        if self.capture:
            arguments += ["--capture", CAPTURES / self.capture]
        if self.run == "check":
            finished = run("check", *arguments)
        else:
            finished = run("diagnose", self.log, *arguments, *([] if self.capture else ["--log-only"]))
        assert finished.returncode in (0, 1, 3), f"{self.name}: {finished.stderr}"
        return json.loads(finished.stdout), finished.returncode

    def given(self, report):
        return [(one["id"], one["status"]) for one in report["findings"] if one["status"] in WEIGHT]


def cases():
    return [Case(folder) for folder in sorted(CORPUS.iterdir()) if folder.is_dir()]


def texts_of(report, finding):
    """All that a reader gets to read of one finding."""
    return " ".join(json.dumps(one, ensure_ascii=False) for one in report["findings"] if one["id"] == finding)


class Corpus(unittest.TestCase):
    reports = {}

    @classmethod
    def setUpClass(cls):
        cls.cases = cases()
        for case in cls.cases:
            cls.reports[case.name] = case.report()

    def for_each_case(self, judge):
        for case in self.cases:
            with self.subTest(case.name):
                judge(case, self.reports[case.name][0])

    def test_the_first_cause_is_the_expected_one(self):
        def judge(case, report):
            if case.first is None:
                return
            given = case.given(report)
            expected = case.expected()[0]
            if case.run == "check":  # its order is that of the topics
                self.assertIn(expected, given)
            else:
                self.assertEqual(given[0] if given else None, expected)
        self.for_each_case(judge)

    def test_nothing_else_fails_or_warns(self):
        def judge(case, report):
            if case.run != "check":
                self.assertEqual(set(case.given(report)) - set(case.expected()), set())
        self.for_each_case(judge)

    def test_no_case_gives_a_foreign_failure(self):
        def judge(case, report):
            failures = {one for one in case.given(report) if one[1] == "fail"}
            self.assertEqual(failures - set(case.expected()), set())
        self.for_each_case(judge)

    def test_what_is_expected_beside_the_first_is_found(self):
        def judge(case, report):
            self.assertEqual(set(case.expected()) - set(case.given(report)), set())
        self.for_each_case(judge)

    def test_a_near_miss_triggers_nothing_of_what_it_looks_like(self):
        def judge(case, report):
            given = {finding for finding, _ in case.given(report)}
            for forbidden in case.must_not or []:
                self.assertEqual(given if forbidden == "*" else given & {forbidden}, set())
        self.for_each_case(judge)

    def test_the_words_that_matter_are_said(self):
        def judge(case, report):
            for word in case.words or []:
                self.assertIn(word, texts_of(report, case.first["finding"]).replace('\\"', '"'))
        self.for_each_case(judge)

    def test_the_exit_status_follows(self):
        for case in self.cases:
            report, status = self.reports[case.name]
            with self.subTest(case.name):
                weights = [WEIGHT[one[1]] for one in case.given(report)]
                if weights:
                    self.assertEqual(status, 1 if max(weights) == 2 else 0)
                elif case.must_not == ["*"]:
                    self.assertEqual(status, 3)

    def test_precision_and_recall(self):
        hits = given = expected = 0
        for case in self.cases:
            if case.run == "check":  # a machine shows all that is wrong with it
                found = {one for one in case.given(self.reports[case.name][0]) if one in case.expected()}
            else:
                found = set(case.given(self.reports[case.name][0]))
            hits += len(found & set(case.expected()))
            given += len(found)
            expected += len(set(case.expected()))
        near = sum(1 for case in self.cases if case.near_miss_of)
        print(f"corpus: {len(self.cases)} cases, {near} of them near misses; precision {hits}/{given} = {hits / given:.3f}, "
              f"recall {hits}/{expected} = {hits / expected:.3f}", file=sys.stderr)
        self.assertEqual((hits, hits), (given, expected))


class Files(unittest.TestCase):
    def test_cases_are_well_formed(self):
        for case in cases():
            with self.subTest(case.name):
                self.assertEqual(set(case.told) - KEYS, set())
                self.assertEqual(set(case.told) & {"row", "source", "title", "run"}, {"row", "source", "title", "run"})
                self.assertIn(case.run, ("check", "diagnose"))
                self.assertEqual(case.log is None, case.run == "check")
                self.assertTrue(case.first or case.must_not, "says nothing")
                self.assertTrue(case.first or case.near_miss_of, "no near miss says of what")
                if case.capture:
                    self.assertTrue((CAPTURES / case.capture / "capture.toml").exists(), case.capture)

    def test_every_row_has_a_case_that_must_be_recognised(self):
        rows = {case.row for case in cases() if case.first or case.row in ("article-2/8", "article-2/9", "wheels-2.10/13")}
        self.assertEqual(set(ROWS) - rows, set())

    def test_logs_hold_nothing_personal(self):
        for case in cases():
            if case.log is None:
                continue
            text = case.log.read_text(encoding="utf-8")
            for user in re.findall(r"/home/([^/\s]+)|Users\\+([^\\\s]+)", text):
                self.assertIn("user1", user, case.name)
            self.assertNotRegex(text, r"[\w.]+@(?!host1|GLIBC_)[\w-]+\.\w+", case.name)

    def test_the_table_lists_every_case(self):
        table = (SOURCE / "docs" / "corpus.md").read_text(encoding="utf-8")
        listed = {}
        for line in table.splitlines():
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if len(cells) == 3 and cells[0].startswith("["):
                listed[re.match(r"\[([^]]+)\]", cells[0])[1]] = cells
        self.assertEqual(sorted(listed), sorted(case.name for case in cases()))
        for case in cases():
            with self.subTest(case.name):
                _, source, finding = listed[case.name]
                self.assertIn(case.source, source)
                for one, _ in case.expected():
                    self.assertIn(one, finding)
                self.assertEqual(case.near_miss_of is not None and not case.first, finding.startswith("none"))


if __name__ == "__main__":
    unittest.main()
