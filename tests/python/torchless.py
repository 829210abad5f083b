"""The modules of the package that need no PyTorch, importable where there is none."""

import importlib
import sys
import types
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "kernels" / "python" / "sage_doctor_attention"


def module(name):
    """sage_doctor_attention.<name> without running the package's __init__, which imports torch."""
    if "sage_doctor_attention" not in sys.modules:
        package = types.ModuleType("sage_doctor_attention")
        package.__path__ = [str(PACKAGE)]
        sys.modules["sage_doctor_attention"] = package
    return importlib.import_module(f"sage_doctor_attention.{name}")
