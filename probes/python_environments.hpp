#pragma once

#include <string>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The environments of probe_python() with everything about the interpreter and its folders, and nothing yet about
/// what is installed. Each prefix once. `sites` are folders that exist; those that .pth files add are not among them.
/// `named`: an interpreter, a command of PATH or the folder of an environment that comes first; empty: none. When it is
/// none of these it is still listed, with interpreter_there false and the reason in `sites`.
[[nodiscard]] std::vector<PythonEnvironment> find_python_environments(const Host& host, const std::string& named);

}  // namespace sage
