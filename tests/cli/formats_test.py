"""check --format: every format of every capture, and of captures full of hostile text, as its readers take it."""

import functools
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
import xml.etree.ElementTree

import jsonschema

from binary import BARE_ENVIRONMENT, BINARY, CAPTURE_NAMES, CAPTURES, main, run
from schemas import official_schemas

FORMATS = ("text", "json", "sarif", "junit", "markdown", "html")
PROBLEMS = ("fail", "error", "warn")
NO_GPU = CAPTURES / "no-gpu"

HOSTILE = (
    "EVIL7 </details></td></table></pre></code><script>alert(1)</script><img src=x onerror=y>",
    "EVIL7 `x` ``` ~~~ @alice @a/b #12 GH-3 :smile: [x](http://e.org) ![i](http://e.org/i.png) https://e.org www.e.org u@e.org",
    "EVIL7 \"'><!-- --> ]]> &lt; &amp; {0} {1} %00 \\ \\| | $x^2$ ~~s~~ **b** _i_ <!DOCTYPE x> <?x?> @STATUS@",
    "# EVIL7", "- EVIL7", "1. EVIL7", "> EVIL7", "=== EVIL7", "| EVIL7 | b |", "    EVIL7", "\\EVIL7\\", "EVIL7 `", "EVIL7\\",
)


@functools.cache
def check(form, *arguments):
    """stdout of check --format, as bytes."""
    finished = subprocess.run([BINARY, "check", "--format", form, *map(str, arguments)], env=BARE_ENVIRONMENT,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert finished.returncode in (0, 1), finished.stderr
    return finished.stdout


def printable(text):
    """As the program shows text from the machine in one line."""
    shown = re.sub(r"[\n\t]", " ", text)
    return re.sub("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ufffd]", "?", shown)


def words(text):
    return " ".join(text.split())


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order, and collects what a reader sees."""

    VOID = {"meta", "br", "hr", "img", "input", "link"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts, self.outside_code = [], [], [], [], []
        self.problems = []
        self.feed(text)
        self.close()
        self.problems += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.texts.append(data)
        if not {"code", "pre", "a"} & set(self.open):
            self.outside_code.append(data)

    @property
    def text(self):
        return words("".join(self.texts))


def told(page, finding):
    """Of findings that differ in their subject alone the page has the first, and the subjects of the others."""
    return any(words(printable(finding[key])) in page.text for key in ("observed", "subject") if finding[key])


def setUpModule():
    """Captures with hostile text wherever a user can put one, and a configuration with some."""
    place = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(place.cleanup)
    folder = pathlib.Path(place.name)
    Machines.config = folder / "config.toml"
    Machines.config.write_text(f'[ignore."env.preload"]\nreason = {json.dumps(HOSTILE[0])}\n', encoding="utf-8")
    Machines.hostile = []
    shutil.copytree(CAPTURES / "healthy-9070xt", folder / "healthy-9070xt")
    for number, text in enumerate(HOSTILE):
        capture = folder / f"<b>`@x{number}"
        (capture / "root" / "etc").mkdir(parents=True)
        (capture / "root" / "etc" / "os-release").write_bytes(
            b"ID=x\nPRETTY_NAME=" + text.encode() + b" \xff\x1b[31m\xe2\x80\xae\n")
        variables = {"LD_PRELOAD": text, "HSA_OVERRIDE_GFX_VERSION": text, "HIP_VISIBLE_DEVICES": text,
                     "ROCM_PATH": "/" + text, "ROCM_HOME": text, "PYTORCH_ROCM_ARCH": text, "HIP_PLATFORM": text}
        (capture / "capture.toml").write_text(
            'capture_version = 1\nextends = "healthy-9070xt"\n[environment]\n' +
            "".join(f"{name} = {json.dumps(value)}\n" for name, value in variables.items()), encoding="utf-8")
        Machines.hostile.append(capture)


class Machines(unittest.TestCase):
    def each(self, form):
        """The report of every machine in a format, beside the same as JSON."""
        machines = [(CAPTURES / name,) for name in CAPTURE_NAMES]
        for capture in self.hostile:
            machines += [(capture,), (capture, "--config", self.config)]
        number = 0
        for capture, *more in machines:
            arguments = ("--capture", capture, *more)
            report = json.loads(check("json", *arguments))
            yield report, check(form, *arguments).decode("utf-8"), arguments
            number += 1
        self.assertGreater(number, 100)


class Sarif(Machines):
    def test_follows_the_official_schema(self):
        schema = json.loads((official_schemas() / "sarif.json").read_text(encoding="utf-8"))
        jsonschema.Draft4Validator.check_schema(schema)
        validator = jsonschema.Draft4Validator(schema)
        self.assertFalse(validator.is_valid({"version": "2.1.0", "runs": [{"results": []}]}))
        for _, text, _ in self.each("sarif"):
            self.assertEqual([f"{list(e.absolute_path)}: {e.message[:200]}" for e in validator.iter_errors(json.loads(text))], [])

    def test_says_what_the_json_says(self):
        kinds = {"fail": "fail", "warn": "fail", "pass": "pass", "info": "informational", "error": "open"}
        for report, text, _ in self.each("sarif"):
            (log_run,) = json.loads(text)["runs"]
            results = log_run["results"]
            self.assertEqual([r["ruleId"] for r in results], [f["id"] for f in report["findings"]])
            for result, finding in zip(results, report["findings"]):
                self.assertEqual(result["kind"], kinds.get(finding["status"], result["kind"]))
                self.assertEqual(len(result["suppressions"]), int(finding["suppressed"]))
                self.assertEqual(result["level"], {"fail": "error", "warn": "warning"}.get(finding["status"], "none"))
                # What is not in the schema: 3.11.5 of the standard (braces) and 3.10 (URIs).
                self.assertNotRegex(result["message"]["text"].replace("{{", "").replace("}}", ""), "[{}]")
                for place in result.get("locations", []) + result.get("relatedLocations", []):
                    uri = place.get("physicalLocation", {}).get("artifactLocation", {}).get("uri")
                    if uri is not None:
                        self.assertRegex(uri, r"^(file:///)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$")
                        self.assertNotIn("..", urllib.parse.unquote(uri).split("/"))

    def test_evidence_in_files_is_a_location(self):
        found = 0
        for name in CAPTURE_NAMES:
            report = json.loads(check("sarif", "--quiet", "--capture", CAPTURES / name))
            for result in report["runs"][0]["results"]:
                self.assertIn(result["kind"], ("fail", "open"))
                found += sum("physicalLocation" in place for place in result.get("locations", []))
        self.assertGreater(found, 30)


class JUnit(Machines):
    def test_follows_what_jenkins_accepts(self):
        schemas = sorted(official_schemas().glob("junit-*.xsd"))
        self.assertEqual(len(schemas), 2)
        with tempfile.TemporaryDirectory() as place:
            files = []
            for _, text, _ in self.each("junit"):
                files.append(pathlib.Path(place) / f"{len(files)}.xml")
                files[-1].write_text(text, encoding="utf-8")
            wrong = pathlib.Path(place) / "wrong.xml"
            wrong.write_text("<testsuites><testsuite><testcase/></testsuite></testsuites>", encoding="utf-8")
            for schema in schemas:
                command = ["xmllint", "--nonet", "--noout", "--schema", schema]
                self.assertNotEqual(subprocess.run([*command, wrong], capture_output=True, timeout=60).returncode, 0)
                finished = subprocess.run([*command, *files], capture_output=True, text=True, timeout=120)
                problems = [line for line in finished.stderr.splitlines() if not line.endswith(" validates")]
                self.assertEqual((finished.returncode, problems), (0, []))

    def test_says_what_the_json_says(self):
        for report, text, _ in self.each("junit"):
            root = xml.etree.ElementTree.fromstring(text)
            cases = root.findall("testsuite/testcase")
            self.assertEqual(sorted(c.get("classname") for c in cases), sorted(f["id"] for f in report["findings"]))
            failed = [f for f in report["findings"] if f["status"] == "fail" and not f["suppressed"]]
            self.assertEqual(sorted(c.get("classname") for c in cases if c.find("failure") is not None),
                             sorted(f["id"] for f in failed))
            self.assertEqual(root.get("failures"), str(len(failed)))
            said = [case.find("failure").get("message") for case in cases if case.find("failure") is not None]
            for finding in failed:
                self.assertTrue(any(printable(finding["observed"]) in message for message in said), finding["observed"])

    def test_strict_makes_warnings_failures(self):
        for name in CAPTURE_NAMES:
            summary = json.loads(check("json", "--capture", CAPTURES / name))["summary"]
            if not summary["warn"]:
                continue
            finished = run("check", "--format", "junit", "--strict", "--capture", CAPTURES / name)
            failures = int(xml.etree.ElementTree.fromstring(finished.stdout).get("failures"))
            self.assertEqual(failures, summary["fail"] + summary["warn"], name)
            self.assertEqual(finished.returncode, 1, name)


class Markdown(Machines):
    TAGS = {"h3", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "pre", "ul", "li", "details", "summary"}
    # What GitHub makes of text after it became HTML.
    MORE = re.compile(r"@[A-Za-z0-9]|#[0-9]|\bGH-[0-9]|://|\bwww\.|:[a-z]+:", re.IGNORECASE)

    def page_of(self, text):
        finished = subprocess.run(
            ["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tasklist"],
            input=text, capture_output=True, text=True, check=True, timeout=60)
        return Page(finished.stdout)

    def test_the_checks_here_would_see_trouble(self):
        self.assertIn("a", self.page_of("see http://e.org").tags)
        self.assertTrue(any(map(self.MORE.search, self.page_of("ask @alice").outside_code)))
        self.assertTrue(any(map(self.MORE.search, self.page_of("ask \\@alice").outside_code)))
        self.assertEqual(self.page_of("`@alice` x").outside_code, [" x", "\n"])

    def test_is_what_it_says_and_nothing_else(self):
        for report, text, arguments in self.each("markdown"):
            self.assertLess(len(text), 65536)
            page = self.page_of(text)
            self.assertEqual(page.problems, [], arguments)
            self.assertEqual(set(page.tags) - self.TAGS, set(), arguments)
            self.assertEqual([data for data in page.outside_code if self.MORE.search(data)], [], arguments)
            for finding in report["findings"]:
                if finding["status"] in PROBLEMS and not finding["suppressed"]:
                    self.assertTrue(told(page, finding), (finding, arguments))
                    for command in (c for remedy in finding["remedy"] for c in remedy["commands"]):
                        self.assertIn(words(printable(command)), page.text, arguments)
            self.assertEqual(page.tags.count("h4"), text.count("\n| **"), arguments)

    def test_hostile_text_arrives(self):
        for capture in self.hostile:
            page = self.page_of(check("markdown", "--no-redact", "--capture", capture).decode())
            self.assertGreater(page.text.count("EVIL7"), 5, capture)


class Html(Machines):
    def test_is_one_page_that_needs_nothing_else(self):
        for report, text, arguments in self.each("html"):
            page = Page(text)
            self.assertEqual(page.problems, [], arguments)
            self.assertEqual({"script", "link", "img", "iframe", "object", "embed", "form", "a", "base"} & set(page.tags), set())
            for tag, name, value in page.attributes:
                self.assertFalse(name.startswith("on") or name in ("src", "href", "style", "srcset", "action"), (tag, name, value))
            style = text[text.index("<style>"):text.index("</style>")]
            self.assertNotRegex(style, r"url\(|@import|expression")
            self.assertIn("default-src 'none'", text)
            for finding in report["findings"]:
                self.assertTrue(told(page, finding), (finding, arguments))
                if finding["status"] in PROBLEMS and not finding["suppressed"]:
                    for command in (c for remedy in finding["remedy"] for c in remedy["commands"]):
                        self.assertIn(words(printable(command)), page.text, arguments)

    def test_can_be_found_through_by_a_screen_reader(self):
        for _, text, arguments in self.each("html"):
            page = Page(text)
            self.assertIn(("html", "lang", "en"), page.attributes)
            self.assertEqual([page.tags.count(tag) for tag in ("h1", "main", "header", "footer", "title")], [1] * 5)
            headings = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
            self.assertTrue(all(b <= a + 1 for a, b in zip(headings, headings[1:])), (arguments, headings))
            ids = [value for _, name, value in page.attributes if name == "id"]
            self.assertEqual(len(ids), len(set(ids)))
            self.assertEqual(page.tags.count("details"), page.tags.count("summary"))


class Options(unittest.TestCase):
    def test_json_is_a_short_form(self):
        for arguments in (("--json",), ("--format", "json"), ("--json", "--format", "json")):
            finished = run("check", *arguments, "--capture", NO_GPU)
            self.assertEqual(json.loads(finished.stdout)["schema_version"], 1)
        self.assertEqual(run("check", "--format", "text", "--capture", NO_GPU).stdout, run("check", "--capture", NO_GPU).stdout)

    def test_two_formats_and_unknown_ones_are_wrong_usage(self):
        for arguments, said in ((("--json", "--format", "html"), "--json and another --format"),
                                (("--format", "text", "--json"), "--json and another --format"),
                                (("--format", "pdf"), "there is no format 'pdf': take text, json, sarif, junit, markdown or html"),
                                (("--format", ""), "there is no format ''"), (("--format", "HTML"), "there is no format 'HTML'")):
            finished = run("check", *arguments, "--capture", NO_GPU)
            self.assertEqual((finished.returncode, finished.stdout), (2, ""), arguments)
            self.assertIn(said, finished.stderr)

    def test_the_exit_status_is_the_same_in_every_format(self):
        for name in ("no-gpu", "healthy-9070xt", "override-leftover-mi210"):
            for more in ((), ("--strict",)):
                statuses = {run("check", "--format", form, "--capture", CAPTURES / name, *more).returncode for form in FORMATS}
                self.assertEqual(len(statuses), 1, (name, more, statuses))

    def test_only_text_has_colours(self):
        for form in FORMATS:
            text = check(form, "--color", "always", "--capture", NO_GPU)
            self.assertEqual(b"\033" in text, form == "text", form)
            self.assertTrue(text.endswith(b"\n"), form)

    def test_all_but_text_are_redacted_unless_asked(self):
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(CAPTURES / "healthy-9070xt", pathlib.Path(place) / "healthy-9070xt")
            capture = pathlib.Path(place) / "someone"
            capture.mkdir()
            (capture / "capture.toml").write_text(
                'capture_version = 1\nextends = "healthy-9070xt"\n[process]\nuser = "carlotta"\nhome = "/home/carlotta"\n'
                '[environment]\nLD_PRELOAD = "/home/carlotta/libhsa-runtime64.so"\n', encoding="utf-8")
            for form in FORMATS:
                self.assertEqual(b"carlotta" in check(form, "--capture", capture), form == "text", form)
                self.assertIn(b"carlotta", check(form, "--no-redact", "--capture", capture), form)


if __name__ == "__main__":
    main()
