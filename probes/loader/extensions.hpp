#pragma once

#include <string>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/loader/loader_files.hpp"

namespace sage {

struct HipExtension {
  std::string path;
  bool imports_torch = true;  ///< its package imports torch before it loads the module
};

/// Compiled modules of well-known packages in the environment that need libamdhip64 by DT_NEEDED. Looks into the
/// folders of those packages only.
[[nodiscard]] std::vector<HipExtension> hip_extensions(LoaderFiles& files, const PythonEnvironment& environment);

/// The libraries that `import torch` opens, in that order, of those that exist: the preloads of AMD's wheels
/// (facts/wheels.md 2.6), then what torch/__init__.py opens.
[[nodiscard]] std::vector<std::string> torch_libraries(LoaderFiles& files, const PythonEnvironment& environment,
                                                       const TorchInstall& torch);

/// Where Triton's search for libamdhip64 ends when nothing of that name is in the process (facts/wheels.md 2.7); empty:
/// nowhere. `mapped`: the files that are in the process.
[[nodiscard]] std::string triton_library(LoaderFiles& files, const PythonEnvironment& environment,
                                         const std::vector<std::string>& mapped);

/// The compiled module of ctypes, which calls dlopen(3) for Python code; empty where it is part of the interpreter or not
/// found.
[[nodiscard]] std::string ctypes_module(LoaderFiles& files, const PythonEnvironment& environment);

}  // namespace sage
