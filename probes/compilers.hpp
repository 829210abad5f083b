#pragma once

#include <string>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/facts/toolchains.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// A folder that belongs to somebody: what lies in it comes from there.
struct CompilerTree {
  std::string folder;  ///< canonical
  ToolchainOrigin origin = ToolchainOrigin::other;
};

/// Where compilers can come from beside PATH and the distribution.
struct CompilerSources {
  std::vector<CompilerTree> trees;
  std::vector<std::string> environments;  ///< prefixes of Python environments whose bin folder may hold trampolines
};

/// A compiler before it is described.
struct FoundCompiler {
  std::string path;
  std::string canonical;
  CompilerKind kind = CompilerKind::clang;
};

/// The trees of `python`'s environments, of the ROCm roots, of conda and of CUDA toolkits.
[[nodiscard]] CompilerSources compiler_sources(const Host& host, const std::vector<std::string>& rocm_roots,
                                               const Python& python);

/// Every compiler of these sources, of PATH and of the distribution's folders, each file once: by inode, else by its
/// canonical path. A wrapper and the clang that it starts are two files.
[[nodiscard]] std::vector<FoundCompiler> find_compilers(const Host& host, const CompilerSources& sources);

}  // namespace sage
