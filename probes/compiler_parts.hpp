#pragma once

#include <string>
#include <vector>

#include "probes/facts/toolchains.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The clang program that `hipcc` of the tree `root` starts, by the tree or by the script. Unknown when neither says.
[[nodiscard]] Fact<std::string> clang_behind_hipcc(const Host& host, const std::string& hipcc, const std::string& root);

/// "19.1.7" or "22" of a clang program, by its resource folders lib/clang/<version>.
[[nodiscard]] Fact<std::string> clang_version_of(const Host& host, const std::string& clang);

/// "15" of a library that is linked with libLLVM-15.so.1 or libLLVM.so.19.1. Unknown when LLVM is inside.
[[nodiscard]] Fact<std::string> llvm_behind_library(const Host& host, const std::string& library);

/// Trees that a compiler searches for device libraries and headers, the nearest first: its own, for a plain clang then
/// those that clang knows by heart.
[[nodiscard]] std::vector<std::string> rocm_trees_of(const Host& host, const Toolchain& compiler,
                                                     const std::vector<std::string>& rocm_roots);

struct DeviceLibraries {
  std::string folder;                ///< empty: none found
  std::vector<std::string> targets;  ///< sorted
};

/// The folder with ocml.bc and ockl.bc that the compiler finds without being told: below clang's resource folder or in
/// one of `trees` (clang/lib/Driver/ToolChains/AMDGPU.cpp). What HIP_DEVICE_LIB_PATH and ROCM_PATH do to that is left
/// out on purpose.
[[nodiscard]] DeviceLibraries device_libraries_of(const Host& host, const Toolchain& compiler,
                                                  const std::vector<std::string>& trees);

/// The targets of names like oclc_isa_version_1100.bc and oclc_isa_version_11-generic.bc, sorted.
[[nodiscard]] std::vector<std::string> targets_of_device_libraries(const std::vector<std::string>& names);

/// The same for the folders that HIP_DEVICE_LIB_PATH and ROCM_PATH name, as far as they are set.
[[nodiscard]] std::vector<NamedDeviceLibraries> named_device_libraries(const Host& host);

/// The first include folder of `trees` that has hip/hip_runtime.h; empty: none.
[[nodiscard]] std::string hip_headers_in(const Host& host, const std::vector<std::string>& trees);

/// Which of ROCm's libraries have their headers in `include`, sorted: "hipblas", "rocprim", "thrust" ...
[[nodiscard]] std::vector<std::string> library_headers_in(const Host& host, const std::string& include);

/// A program that clang starts: beside it, else by PATH; empty: none.
[[nodiscard]] std::string helper_of_clang(const Host& host, const std::string& clang,
                                          const std::vector<std::string>& names);

}  // namespace sage
