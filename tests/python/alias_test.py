"""The alias distribution `sageattention`: written, found, removed, and never in the way of a real one. Needs no PyTorch."""

import contextlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torchless

alias = torchless.module("alias")
errors = torchless.module("errors")


# This interpreter may have a real one.
sys.path[:] = [path for path in sys.path if not (Path(path) / "sageattention").exists()]


@contextlib.contextmanager
def site_packages():
    """A folder that Python imports from."""
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        try:
            yield Path(folder)
        finally:
            sys.path.remove(folder)
            sys.modules.pop("sageattention", None)


def python(program, *paths):
    return subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))})


class Alias(unittest.TestCase):
    def test_found_by_name_and_by_version(self):
        with site_packages() as site:
            folder = alias.install_alias(site)
            self.assertEqual(folder, site / "sageattention")
            self.assertEqual(importlib.metadata.version("sageattention"), alias.VERSION)
            listed = {str(path) for path in importlib.metadata.files("sageattention")}
            there = {str(p.relative_to(site)) for p in site.rglob("*") if p.is_file()}
            self.assertEqual(listed, there)

    def test_without_the_package_it_says_what_it_is(self):
        with site_packages() as site:
            alias.install_alias(site)
            done = python("import sageattention", site)
        self.assertIn("alias of sage-doctor-attention", done.stderr)
        self.assertIn("pip uninstall sageattention", done.stderr)

    def test_with_it_the_names_are_upstreams(self):
        with site_packages() as site:
            alias.install_alias(site)
            done = python("import sageattention as s; print(sorted(n for n in dir(s) if n.startswith('sage')))", site,
                          torchless.PACKAGE.parent)
        if "No module named 'torch'" in done.stderr:
            self.skipTest("PyTorch is missing here")
        self.assertEqual(eval(done.stdout), [
            "sageattn", "sageattn_qk_int8_pv_fp16_cuda", "sageattn_qk_int8_pv_fp16_triton", "sageattn_qk_int8_pv_fp8_cuda",
            "sageattn_qk_int8_pv_fp8_cuda_sm90", "sageattn_varlen"], done.stderr)

    def test_a_real_one_stays(self):
        with site_packages() as site:
            (site / "sageattention").mkdir()
            (site / "sageattention" / "__init__.py").write_text("real = 1\n")
            with self.assertRaisesRegex(errors.ArgumentError, "left as it is"):
                alias.install_alias(site)
            self.assertFalse(alias.remove_alias(site))
            self.assertEqual((site / "sageattention" / "__init__.py").read_text(), "real = 1\n")
        with site_packages() as site, site_packages() as elsewhere:
            (elsewhere / "sageattention.py").write_text("real = 1\n")
            with self.assertRaisesRegex(errors.ArgumentError, "sageattention.py"):
                alias.install_alias(site)
            self.assertEqual(list(site.iterdir()), [])
        with site_packages() as site:
            records = site / "sageattention-1.0.6.dist-info"
            records.mkdir()
            (records / "METADATA").write_text("Metadata-Version: 2.1\nName: sageattention\nVersion: 1.0.6\n")
            with self.assertRaisesRegex(errors.ArgumentError, "1.0.6"):
                alias.install_alias(site)

    def test_removed(self):
        with site_packages() as site:
            alias.install_alias(site)
            with self.assertRaisesRegex(errors.ArgumentError, "left as it is"):
                alias.install_alias(site)
            self.assertTrue(alias.remove_alias(site))
            self.assertEqual(list(site.iterdir()), [])
            self.assertFalse(alias.remove_alias(site))

    def test_pip_removes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
            if made.returncode != 0:
                self.skipTest("no virtual environments here: " + made.stderr.strip()[-100:])
            site = next(Path(folder).glob("lib/python*/site-packages"))
            alias.install_alias(site)
            pip = [str(Path(folder) / "bin" / "python"), "-m", "pip"]
            shown = subprocess.run([*pip, "list"], capture_output=True, text=True).stdout
            self.assertIn(alias.VERSION, shown)
            done = subprocess.run([*pip, "uninstall", "-y", "sageattention"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(list(site.glob("sageattention*")), [])


if __name__ == "__main__":
    unittest.main()
