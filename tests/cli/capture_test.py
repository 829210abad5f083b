"""capture writes what check --capture replays: same findings, nothing personal; flawed captures are refused."""

import json
import pathlib
import shutil
import tempfile
import unittest

from binary import BARE_ENVIRONMENT, CAPTURES, check_json, run


class Capture(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def write(self, text, name="flawed"):
        folder = self.scratch / name
        folder.mkdir(exist_ok=True)
        (folder / "capture.toml").write_text(text)
        return folder

    def test_replay_equals_live(self):
        folder = self.scratch / "mine"
        self.assertEqual(run("capture", "--no-redact", folder).returncode, 0)
        live = check_json("--no-redact")
        replayed = check_json("--no-redact", "--capture", folder)
        self.assertEqual(replayed["summary"], live["summary"])
        # Free memory moves between two runs; everything else is the same.
        for report in (live, replayed):
            for finding in report["findings"]:
                if finding["id"] == "platform.build-memory":
                    finding["observed"] = finding["evidence"] = None
            for moving in ("memory_available", "swap_free"):
                report["facts"]["platform"].pop(moving)
            # Of the program, not of the machine; a capture is looked at by whatever program its reader has.
            report["facts"]["installation"].pop("program_source_sha256")
        self.assertEqual(replayed["findings"], live["findings"])
        self.assertEqual(replayed["facts"], live["facts"])

    def test_a_capture_of_a_capture_is_the_same_machine(self):
        for name in ("healthy-9070xt", "healthy-wsl2-rocm72"):
            first = check_json("--no-redact", "--capture", CAPTURES / name)
            self.assertGreater(first["summary"]["pass"], 10, name)

    def test_nothing_personal_is_written(self):
        home = self.scratch / "home" / "annabelle"
        home.mkdir(parents=True)
        (home / ".bashrc").write_text("export GITHUB_TOKEN=ghp_secretsecret\nexport HIP_VISIBLE_DEVICES=0\n")
        environment = {**BARE_ENVIRONMENT, "HOME": str(home), "USER": "annabelle", "GITHUB_TOKEN": "ghp_secretsecret",
                       "LD_LIBRARY_PATH": str(home / "lib")}
        folder = self.scratch / "mine"
        finished = run("capture", folder, environment=environment)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        for path in folder.rglob("*"):
            if path.is_file():
                content = path.read_text(errors="replace")
                self.assertNotIn("annabelle", content, path)
                self.assertNotIn("ghp_", content, path)
            self.assertNotIn("annabelle", str(path.relative_to(folder)))
        report = run("check", "--json", environment=environment).stdout
        self.assertNotIn("annabelle", report)

    def test_a_folder_with_something_in_it_is_left_alone(self):
        (self.scratch / "full").mkdir()
        (self.scratch / "full" / "precious").write_text("x")
        finished = run("capture", self.scratch / "full")
        self.assertEqual(finished.returncode, 2)
        self.assertEqual([p.name for p in (self.scratch / "full").iterdir()], ["precious"])

    def test_flawed_captures_are_refused_by_name(self):
        for text, expected in (
            ("capture_version = 1\nenvironmnt = {}\n", "environmnt"),
            ("capture_version = 99\n", "99"),
            ("", "capture_version"),
            ("capture_version = 1\n[path.\"/dev/kfd\"]\nmood = 3\n", "mood"),
            ("capture_version = 1\nextends = \"../../etc\"\n", "extends"),
            ("capture_version = 1\nextends = \"nowhere\"\n", "nowhere"),
            ("capture_version = 1\nextends = \"flawed\"\n", "flawed"),
            ("capture_version = [[[", "capture.toml"),
        ):
            finished = run("check", "--capture", self.write(text))
            self.assertEqual(finished.returncode, 2, text)
            self.assertEqual(finished.stdout, "", text)
            self.assertIn(expected, finished.stderr, text)

    def test_a_capture_does_not_reach_the_real_machine(self):
        secret = self.scratch / "secret"
        secret.write_text("PRETTY_NAME=stolen\n")
        folder = self.write("capture_version = 1\n")
        (folder / "root" / "etc").mkdir(parents=True)
        (folder / "root" / "etc" / "os-release").symlink_to(secret)
        finished = run("check", "--json", "--capture", folder)
        self.assertNotIn("stolen", finished.stdout)

    def test_an_empty_capture_is_unknown_everywhere_and_no_pass(self):
        report = check_json("--capture", self.write("capture_version = 1\n"))
        passes = [f["id"] for f in report["findings"] if f["status"] == "pass"]
        self.assertEqual([p for p in passes if p.startswith(("gpu.", "driver.", "device.", "wsl."))], [])


class Hostile(unittest.TestCase):
    """Files of a captured machine that are damaged on purpose."""

    def report(self, root):
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(CAPTURES / "healthy-9070xt", pathlib.Path(scratch) / "healthy-9070xt")
            folder = pathlib.Path(scratch) / "damaged"
            folder.mkdir()
            (folder / "capture.toml").write_text("capture_version = 1\nextends = \"healthy-9070xt\"\n")
            for path, content in root.items():
                target = folder / "root" / path.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            finished = run("check", "--json", "--capture", folder)
            self.assertIn(finished.returncode, (0, 1), finished.stderr)
            return json.loads(finished.stdout)

    def test_binary_and_huge_files(self):
        properties = "/sys/class/kfd/kfd/topology/nodes/1/properties"
        for content in (b"", b"\0" * 4096, bytes(range(256)) * 64, b"simd_count 99999999999999999999999\n",
                        b"gfx_target_version 4294967295\n", b"x" * (1 << 20), b"\xff\xfe" * 1000):
            self.report({properties: content, "/etc/os-release": content, "/etc/group": content,
                         "/proc/meminfo": content, "/proc/sys/kernel/osrelease": content})

    def test_64_gpu_nodes(self):
        text = ("cpu_cores_count 0\nsimd_count 128\nsimd_per_cu 2\ngfx_target_version 120001\nvendor_id 4098\n"
                "device_id 30032\nlocation_id {location}\ndomain 0\ndrm_render_minor {minor}\n")
        root = {}
        for node in range(1, 65):
            folder = f"/sys/class/kfd/kfd/topology/nodes/{node}"
            root[f"{folder}/properties"] = text.format(location=node << 8, minor=127 + node).encode()
            root[f"{folder}/gpu_id"] = b"%d\n" % (node * 1000)
        report = self.report(root)
        self.assertEqual(report["facts"]["gpus"]["kfd_gpu_nodes"], 64)


if __name__ == "__main__":
    unittest.main()
