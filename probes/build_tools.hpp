#pragma once

#include <vector>

#include "probes/facts/python.hpp"
#include "probes/facts/toolchains.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The host compilers and tools that building extensions needs, by PATH, each in one row whether it is there or not;
/// "Python.h" is the header of the environment in use.
[[nodiscard]] std::vector<BuildTool> find_build_tools(const Host& host, const Python& python);

/// Toolchains::cxx_headers.
[[nodiscard]] Fact<std::vector<std::string>> find_cxx_headers(const Host& host);

}  // namespace sage
