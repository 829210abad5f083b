"""The package's view of the C interface against the header itself. Needs no PyTorch."""

import ctypes
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import torchless

abi = torchless.module("abi")
HEADER = torchless.SOURCE / "kernels" / "include" / "sage" / "attention.h"


class Abi(unittest.TestCase):
    def test_numbers_are_the_headers(self):
        text = HEADER.read_text()
        numbers = {name: int(value) for name, value in re.findall(r"\bSAGE_(\w+) = (\d+)", text)}
        pairs = {
            "VERSION": "ATTENTION_VERSION", "MASK_NONE": "ATTENTION_MASK_NONE",
            "MASK_CAUSAL_TOP_LEFT": "ATTENTION_MASK_CAUSAL_TOP_LEFT", "PV_F16": "PV_TYPE_F16", "PV_FP8": "PV_TYPE_FP8",
        }
        compared = 0
        for name in dir(abi):
            wanted = pairs.get(name, name)
            if name.isupper() and wanted in numbers:
                self.assertEqual(getattr(abi, name), numbers[wanted], name)
                compared += 1
        self.assertGreaterEqual(compared, 18)

    def test_sizes_and_offsets_are_the_compilers(self):
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            self.skipTest("no C compiler")
        fields = {
            "sage_attention_problem": ["io_type", "sm_scale", "reserved", "q", "k", "v", "out"],
            "sage_attention_buffers": ["q", "out", "lse", "workspace", "workspace_size"],
            "sage_error": ["status", "driver_code", "text"],
            "sage_context_options": ["api", "runtime_path"],
            "sage_context_info": ["target", "runtime_path", "api", "device", "kernel_count"],
        }
        lines = []
        for structure, names in fields.items():
            lines.append(f'printf("{structure} %zu\\n", sizeof({structure}));')
            lines += [f'printf("{structure}.{n} %zu\\n", offsetof({structure}, {n}));' for n in names]
        program = '#include <stdio.h>\n#include <stddef.h>\n#include "sage/attention.h"\nint main(void){' + "".join(lines) + "}"
        with tempfile.TemporaryDirectory() as folder:
            source, binary = Path(folder) / "a.c", Path(folder) / "a"
            source.write_text(program)
            subprocess.run([compiler, "-I", str(HEADER.parent.parent), str(source), "-o", str(binary)], check=True)
            output = subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout
        real = {line.split()[0]: int(line.split()[1]) for line in output.splitlines()}
        self.assertEqual(abi.PROBLEM_BYTES, real["sage_attention_problem"])
        self.assertEqual(abi.BUFFERS_BYTES, real["sage_attention_buffers"])
        for structure, kind in (("sage_error", abi.Error), ("sage_context_options", abi.ContextOptions),
                                ("sage_context_info", abi.ContextInfo)):
            self.assertEqual(ctypes.sizeof(kind), real[structure])
            for name in fields[structure]:
                self.assertEqual(getattr(kind, name).offset, real[f"{structure}.{name}"], f"{structure}.{name}")
        # Where a value lands in the packed bytes.
        packed = abi.problem(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0.5, [(11, 12, 13, 14)] * 4)
        at = real["sage_attention_problem.io_type"]
        self.assertEqual(int.from_bytes(packed[at:at + 4], "little"), 7)
        at = real["sage_attention_problem.out"]
        self.assertEqual(int.from_bytes(packed[at + 16:at + 24], "little"), 13)
        packed = abi.buffers(1, 2, 3, 4, 5, 6, 7)
        at = real["sage_attention_buffers.workspace_size"]
        self.assertEqual(int.from_bytes(packed[at:at + 8], "little"), 7)

    def test_every_function_of_the_header_that_is_used_exists_there(self):
        text = HEADER.read_text()
        for name in abi.PROTOTYPES:
            self.assertRegex(text, rf"\b{name}\(")


if __name__ == "__main__":
    unittest.main()
