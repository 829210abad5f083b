#pragma once

#include <vector>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The environments of probe_python() with everything about the interpreter and its folders, and nothing yet about
/// what is installed. Each prefix once. `sites` are folders that exist; those that .pth files add are not among them.
[[nodiscard]] std::vector<PythonEnvironment> find_python_environments(const Host& host);

}  // namespace sage
