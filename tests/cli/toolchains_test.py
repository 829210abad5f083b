"""sage-doctor toolchains: the list of compilers with their verdicts."""

import json
import unittest

from binary import CAPTURE_NAMES, CAPTURES, run


WITH_COMPILERS = [name for name in CAPTURE_NAMES if name.startswith("toolchain-")]


def listed(capture, *arguments):
    finished = run("toolchains", "--json", "--capture", CAPTURES / capture, *arguments)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def verdicts(capture, *arguments):
    """{path: (kernels, hip programs, extensions)}"""
    return {
        row["path"]: tuple(row[purpose]["can"] for purpose in ("kernels", "hip_programs", "extensions"))
        for row in listed(capture, *arguments)["compilers"]
    }


class Toolchains(unittest.TestCase):
    def test_debian_12_by_target(self):
        capture = "toolchain-debian12-clang19"
        self.assertEqual(verdicts(capture, "--target", "gfx90a")["/usr/bin/hipcc"], ("yes", "yes", "no"))
        self.assertEqual(verdicts(capture, "--target", "gfx1100")["/usr/bin/hipcc"], ("yes", "no", "no"))
        self.assertEqual(verdicts(capture, "--target", "gfx1201")["/usr/bin/hipcc"], ("no", "no", "no"))
        self.assertEqual(verdicts(capture, "--target", "gfx1201")["/usr/bin/clang++-19"], ("yes", "no", "no"))

    def test_the_target_is_that_of_the_gpu_unless_told(self):
        report = listed("toolchain-debian12-clang19")
        self.assertEqual((report["target"], report["target_source"]), ("gfx1201", "this machine's GPU"))
        self.assertEqual(listed("no-gpu")["target"], None)
        self.assertEqual(listed("no-gpu", "--target", "gfx942")["target"], "gfx942")

    def test_one_compiler_at_most_is_chosen_and_it_can_build(self):
        for capture in WITH_COMPILERS:
            rows = listed(capture)["compilers"]
            for purpose in ("kernels", "extensions"):
                chosen = [row for row in rows if row[f"chosen_for_{purpose}"]]
                self.assertLessEqual(len(chosen), 1, capture)
                self.assertTrue(all(row[purpose]["can"] == "yes" for row in chosen), capture)

    def test_the_expanded_devel_wheel_is_chosen_for_extensions(self):
        rows = listed("toolchain-therock-devel-expanded")["compilers"]
        chosen = [row["root"] for row in rows if row["chosen_for_extensions"]]
        self.assertEqual([root.rsplit("/", 1)[1] for root in chosen], ["_rocm_sdk_devel"])

    def test_rocm_home_is_told_as_pytorch_has_it(self):
        homes = listed("toolchain-fat-wheel")["torch_rocm_homes"]
        self.assertEqual([(home["known"], home["path"], home["rule"]) for home in homes], [(True, None, "none")])
        self.assertIn("None: it finds no ROCm", run("toolchains", "--capture", CAPTURES / "toolchain-fat-wheel").stdout)

    def test_text_keeps_to_80_columns_but_for_paths(self):
        for capture in [*WITH_COMPILERS, "no-gpu", "healthy-9070xt"]:
            finished = run("toolchains", "--capture", CAPTURES / capture)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            for line in finished.stdout.splitlines():
                self.assertTrue(len(line) <= 80 or "/" in line, f"{capture}: {line}")

    def test_a_misspelt_target_is_2_with_a_suggestion(self):
        finished = run("toolchains", "--capture", CAPTURES / "no-gpu", "--target", "gfx120")
        self.assertEqual((finished.returncode, finished.stdout), (2, ""))
        self.assertIn("did you mean 'gfx1200'?", finished.stderr)


if __name__ == "__main__":
    unittest.main()
