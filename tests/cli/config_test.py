"""sage-doctor.toml: found in the user's folder, mistakes told with file and line, ignored findings still counted."""

import pathlib
import tempfile
import unittest

from binary import BARE_ENVIRONMENT, CAPTURES, check_json, run


class Config(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.file = self.folder / "sage-doctor" / "sage-doctor.toml"
        self.file.parent.mkdir()
        self.environment = {**BARE_ENVIRONMENT, "XDG_CONFIG_HOME": str(self.folder)}

    def test_a_wrong_key_is_told_with_its_place(self):
        self.file.write_text("\nserach_paths = []\n")
        finished = run("check", environment=self.environment)
        self.assertEqual(finished.returncode, 2)
        self.assertIn("sage-doctor.toml:2: unknown key 'serach_paths' (did you mean 'search_paths'?)", finished.stderr)

    def test_an_ignored_failure_is_counted_but_does_not_fail(self):
        self.file.write_text('[ignore."gpu.present"]\nreason = "a build server"\n')
        finished = run("check", "--capture", CAPTURES / "no-gpu", environment=self.environment)
        self.assertEqual(finished.returncode, 0)
        self.assertIn("[ignored: a build server]", finished.stdout)
        self.assertIn("1 ignored", finished.stdout.splitlines()[-1])
        report = check_json("--capture", CAPTURES / "no-gpu", environment=self.environment)
        self.assertEqual(report["summary"]["suppressed"], 1)

    def test_a_rule_that_ran_out_is_told(self):
        self.file.write_text('[ignore."gpu.present"]\nreason = "for now"\nuntil = 2020-01-01\n')
        finished = run("check", "--capture", CAPTURES / "no-gpu", environment=self.environment)
        self.assertEqual(finished.returncode, 1)
        self.assertIn("2020-01-01", finished.stderr)

    def test_a_configured_target_wins(self):
        self.file.write_text('target = "gfx1200"\n')
        report = check_json("--capture", CAPTURES / "healthy-9070xt", environment=self.environment)
        self.assertEqual(report["facts"]["gpus"]["amd"][0]["target"], "gfx1200")
        self.assertEqual(report["facts"]["gpus"]["amd"][0]["target_source"], "configuration")

    def test_a_named_file_must_exist(self):
        finished = run("check", "--config", self.folder / "nowhere.toml")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("nowhere.toml", finished.stderr)


if __name__ == "__main__":
    unittest.main()
