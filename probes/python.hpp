#pragma once

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// The Python environments that a user would get, at most 16, and what of PyTorch and ROCm is installed in them: in
/// the order of options.python, VIRTUAL_ENV, CONDA_PREFIX, `.venv` of the working folder, python3 and python of PATH, and
/// conda's list. From files alone; no interpreter is run and no line of a .pth file executed (facts/wheels.md 2.13).
/// Libraries are looked into for the first environment only.
[[nodiscard]] Python probe_python(const Host& host, const ProbeOptions& options = {});

}  // namespace sage
