"""A distribution named `sageattention` that leads here, for programs that look for that one: ComfyUI's
--use-sage-attention imports it, diffusers asks for its version besides.

It is written into the folder of site-packages that this package is in, with the records of a wheel, so that
`pip uninstall sageattention` removes it and installing the real one replaces it. Where anything named sageattention can
be imported or is installed, nothing is written.
"""

import base64
import hashlib
import importlib.metadata
import importlib.util
import shutil
from pathlib import Path

from .errors import ArgumentError

# The release whose names and arguments are offered; the local part says that it is not that release itself.
VERSION = "2.2.0+sage.doctor"
_MARK = "sage_doctor_attention"

_MODULE = '''"""SageAttention's names, computed by sage-doctor-attention. `pip uninstall sageattention` removes this alias."""

try:
    from sage_doctor_attention.upstream import *  # noqa: F401,F403
except ImportError as error:
    raise ImportError(
        f"this sageattention is an alias of sage-doctor-attention, which cannot be imported ({error}); "
        "`pip uninstall sageattention` removes the alias") from error

__version__ = "%s"
''' % VERSION

_METADATA = f"""Metadata-Version: 2.1
Name: sageattention
Version: {VERSION}
Summary: Alias of sage-doctor-attention
Requires-Python: >=3.8
"""

_WHEEL = "Wheel-Version: 1.0\nGenerator: sage-doctor\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def _site():
    return Path(__file__).resolve().parent.parent


def _present():
    """What there is of that name already, as text; None: nothing."""
    spec = importlib.util.find_spec("sageattention")
    if spec is not None:
        return f"a module sageattention ({spec.origin or 'a folder'})"
    try:
        return f"a distribution sageattention {importlib.metadata.version('sageattention')}"
    except importlib.metadata.PackageNotFoundError:
        return None


def _record(files):
    lines = []
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(text.encode())}")
    return lines


def install_alias(site_packages=None):
    """Writes the alias (default: beside this package) and returns the folder of its module.

    Raises ArgumentError where a sageattention is there already, real or alias.
    """
    site = Path(site_packages) if site_packages is not None else _site()
    present = _present()
    folder = site / "sageattention"
    if present is None and folder.exists():
        present = str(folder)
    if present is not None:
        raise ArgumentError(f"there is {present} already; it is left as it is")
    records = f"sageattention-{VERSION}.dist-info"
    files = {
        "sageattention/__init__.py": _MODULE,
        f"{records}/METADATA": _METADATA,
        f"{records}/WHEEL": _WHEEL,
        f"{records}/INSTALLER": _MARK + "\n",
    }
    files[f"{records}/RECORD"] = "\n".join([*_record(files), f"{records}/RECORD,,"]) + "\n"
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    return folder


def remove_alias(site_packages=None):
    """Removes the alias; False: there was none. A real sageattention is never touched."""
    site = Path(site_packages) if site_packages is not None else _site()
    records = site / f"sageattention-{VERSION}.dist-info"
    try:
        if (records / "INSTALLER").read_text(encoding="utf-8").strip() != _MARK:
            return False
    except OSError:
        return False
    shutil.rmtree(site / "sageattention", ignore_errors=True)
    shutil.rmtree(records)
    importlib.invalidate_caches()
    return True
