#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/toolchains.hpp"
#include "probes/proof_child/device_command.hpp"

namespace sage {

/// One unit of the device text, to be compiled by one compiler for one target.
struct UnitCommand {
  CompilerKind kind = CompilerKind::clang;
  std::string compiler;  ///< path of the program or, of hipRTC and comgr, the library
  std::string target;
  std::string unit;
  std::string source;    ///< file of the device text
  std::string output;
  bool bundle_allowed = false;  ///< as in DeviceCompile
};

/// The command line, the program first: the compiler's own, or this program's `internal compile-unit` for a library, so that everything
/// that a build does can be done by hand.
[[nodiscard]] std::vector<std::string> compile_command(const UnitCommand& what);

/// Absolute path of the running program; "sage-doctor" when the system does not tell.
[[nodiscard]] std::string own_program_path();

}  // namespace sage
