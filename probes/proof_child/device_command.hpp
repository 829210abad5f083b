#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/toolchains.hpp"

namespace sage {

/// What a compiler program is asked to turn into device code and nothing else.
struct DeviceCompile {
  CompilerKind kind = CompilerKind::clang;  ///< not a library
  std::string compiler;
  std::string target;                   ///< "gfx1201"; of nvcc "sm_90"
  std::vector<std::string> definitions; ///< "-DNAME"
  bool freestanding = true;             ///< no headers, no device libraries
  bool bundle_allowed = false;          ///< for a compiler that does not know unbundling_option
  std::string source;
  std::string output;
};

/// The option by which a compiler writes the code object itself in place of an offload bundle. clang before 14 does not know it.
inline constexpr std::string_view unbundling_option = "--no-gpu-bundle-output";

/// The one table of flags for device code (facts/kernels.md 9c). The first word is the compiler.
[[nodiscard]] std::vector<std::string> device_command(const DeviceCompile& what);

/// The definitions that leave only one unit of the kernels' text (kernels/device/kernels.hpp): -DSAGE_ONLY and its pick.
[[nodiscard]] std::vector<std::string> unit_definitions(std::string_view unit);

/// ".cu" or ".hip", for a file whose language the compiler takes from its name.
[[nodiscard]] std::string_view source_suffix(CompilerKind kind);

/// The options of hipRTC and of comgr's first action, target included for hipRTC (facts/kernels.md 10).
[[nodiscard]] std::vector<std::string> library_options(CompilerKind kind, std::string_view target,
                                                       const std::vector<std::string>& definitions);

/// Ready to paste: words with anything but plain characters in single quotes.
[[nodiscard]] std::string pasteable(const std::vector<std::string>& command);

}  // namespace sage
