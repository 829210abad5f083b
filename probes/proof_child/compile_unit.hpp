#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/toolchains.hpp"

namespace sage {

/// A unit of the kernels' text for hipRTC or comgr.
struct LibraryUnit {
  CompilerKind kind = CompilerKind::hiprtc;
  std::string library;
  std::string target;
  std::string unit;
  std::string source;  ///< file of the device text
  std::string output;
};

/// What follows "sage-doctor internal".
inline constexpr std::string_view compile_unit_verb = "compile-unit";

/// The arguments of `program` that lead to compile_unit() there.
[[nodiscard]] std::vector<std::string> compile_unit_command(const std::string& program, const LibraryUnit& unit);

/// Compiles in this process and ends it, without the exit handlers of the library: status 0 with the output written, 1
/// with the reason on stderr.
[[noreturn]] void compile_unit(const LibraryUnit& unit);

}  // namespace sage
