"""The live machine as a WSL2 guest: a preloaded library gives the binary a /dev/dxg and a WSL kernel."""

import os
import pathlib
import tempfile
import unittest

from binary import BARE_ENVIRONMENT, check_json

FAKE_MACHINE = pathlib.Path(os.environ["SAGE_SHIMS"]) / "libfake_machine.so"


class LiveDxg(unittest.TestCase):
    def check(self, scenario):
        """The report on a WSL2 machine whose /dev/dxg behaves as tests/shims/fake_machine.cpp says."""
        with tempfile.TemporaryDirectory() as root:
            release = pathlib.Path(root, "proc/sys/kernel/osrelease")
            release.parent.mkdir(parents=True)
            release.write_text("6.6.87.2-microsoft-standard-WSL2\n")
            environment = {
                **BARE_ENVIRONMENT,
                "LD_PRELOAD": str(FAKE_MACHINE),
                "SAGE_FAKE_ROOT": root,
                "SAGE_FAKE_DXG": scenario,
                "ASAN_OPTIONS": "verify_asan_link_order=0",
            }
            return check_json(environment=environment)

    def statuses(self, report, topic):
        return {f["id"]: f["status"] for f in report["findings"] if f["id"].startswith(topic)}

    def test_the_adapter_tells_gpu_and_target(self):
        report = self.check("amd-9070xt")
        self.assertEqual(report["facts"]["platform"]["kind"], "wsl2")
        (adapter,) = report["facts"]["wsl"]["adapters"]
        self.assertEqual(adapter["vendor_id"], 0x1002)
        self.assertEqual(adapter["device_id"], 0x7550)
        self.assertEqual(adapter["driver_version"], "32.0.31041.1004")
        self.assertEqual(self.statuses(report, "gpu.present"), {"gpu.present": "pass"})

    def test_another_vendor_and_no_adapter_are_a_missing_gpu(self):
        for scenario in ("nvidia", "none"):
            report = self.check(scenario)
            self.assertEqual(self.statuses(report, "gpu.present"), {"gpu.present": "fail"}, scenario)

    def test_a_driver_that_hangs_or_lies_never_says_that_there_is_no_gpu(self):
        for scenario in ("hang", "liar", "closed"):
            report = self.check(scenario)
            self.assertNotIn("fail", self.statuses(report, "gpu.").values(), scenario)
            self.assertEqual(report["summary"]["error"], 0, scenario)

    def test_garbage_is_survived(self):
        report = self.check("garbage")
        self.assertEqual(report["summary"]["error"], 0)


if __name__ == "__main__":
    unittest.main()
