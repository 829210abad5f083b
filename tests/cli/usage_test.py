"""Command line: help, wrong usage, list, explain."""

import unittest

from binary import CAPTURES, SOURCE, run


class Usage(unittest.TestCase):
    def test_help_and_version_are_products(self):
        for arguments in (["--help"], ["check", "--help"], ["capture", "--help"]):
            finished = run(*arguments)
            self.assertEqual(finished.returncode, 0)
            self.assertIn("Usage", finished.stdout)
            self.assertEqual(finished.stderr, "")
        self.assertRegex(run("--version").stdout, r"^sage-doctor \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_2_and_leaves_stdout_empty(self):
        for arguments in ([], ["chekc"], ["check", "--no-such-flag"], ["explain"], ["capture"], ["check", "stray"],
                          ["check", "--color", "blue"]):
            finished = run(*arguments)
            self.assertEqual(finished.returncode, 2, arguments)
            self.assertEqual(finished.stdout, "", arguments)
            self.assertNotEqual(finished.stderr, "", arguments)

    def test_a_misspelt_command_is_recognised(self):
        self.assertIn("did you mean 'check'?", run("chekc").stderr)

    def test_a_pattern_without_match_is_2(self):
        finished = run("check", "--capture", CAPTURES / "healthy-9070xt", "--only", "gpu.presnt")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("gpu.present", finished.stderr)
        self.assertEqual(run("check", "--skip", "nothing.*").returncode, 2)

    def test_every_listed_check_can_be_explained(self):
        listed = run("list")
        self.assertEqual(listed.returncode, 0)
        ids = [line.split()[0] for line in listed.stdout.splitlines()]
        self.assertGreater(len(ids), 30)
        for check_id in ids:
            page = run("explain", check_id)
            self.assertEqual(page.returncode, 0, check_id)
            self.assertTrue(page.stdout.startswith(f"# {check_id}\n"), check_id)

    def test_a_page_in_the_terminal_shows_ids_where_the_web_has_links(self):
        source = (SOURCE / "docs" / "findings" / "driver.firmware.md").read_text()
        self.assertIn("[driver.gpu-unbound](driver.gpu-unbound.md)", source)
        page = run("explain", "driver.firmware").stdout
        self.assertIn("see driver.gpu-unbound)", " ".join(page.split()))
        self.assertNotIn("](", page)

    def test_the_index_by_symptom_is_a_page(self):
        index = run("explain", "symptoms")
        self.assertEqual(index.returncode, 0)
        self.assertTrue(index.stdout.startswith("# symptoms\n"))
        self.assertNotIn("](", index.stdout)
        rows = [" ".join(row.split()) for row in index.stdout.split("\n* ")]
        self.assertIn("`Unable to open /dev/kfd read-write: Permission denied` (EACCES): device.kfd-access", rows)

    def test_the_index_of_pages_names_every_check(self):
        index = (SOURCE / "docs" / "findings" / "README.md").read_text()
        for line in run("list").stdout.splitlines():
            check_id, title = line.split(maxsplit=1)
            self.assertIn(f"* [{check_id}]({check_id}.md): {title}\n", index)

    def test_explain_without_an_id_says_where_to_find_one(self):
        finished = run("explain")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("sage-doctor explain symptoms", finished.stderr)
        self.assertIn("sage-doctor list", finished.stderr)

    def test_an_unknown_id_is_2_with_a_suggestion(self):
        finished = run("explain", "gpu.presnt")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("did you mean 'gpu.present'?", finished.stderr)
        self.assertIn("sage-doctor explain symptoms", finished.stderr)
        self.assertNotIn("\x1b", run("explain", "gpu.\x1b[31mpresent").stderr)
        self.assertIn("did you mean 'symptoms'?", run("explain", "symptom").stderr)
        # The index page of the folder is not a check.
        self.assertEqual(run("explain", "README").returncode, 2)


if __name__ == "__main__":
    unittest.main()
