#pragma once

#include <string>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Where the expansion of rocm-sdk-devel stands in `site`, by the table of facts/wheels.md 2.4.
[[nodiscard]] Fact<DevelState> devel_state(const Host& host, const std::string& site);

/// Looks into the payload folders (`<site>/_rocm_sdk_core` and the like) and into `torch_libraries`, the folder
/// torch/lib or empty. Runtime libraries are compared by inode: hard links are one runtime, copies are two.
[[nodiscard]] SdkFiles describe_sdk_files(const Host& host, const std::vector<std::string>& sdk_folders,
                                          const std::string& torch_libraries, const Fact<DevelState>& devel);

/// The payload folder of the libraries wheel among them, "_rocm_sdk_libraries" or "_rocm_sdk_libraries_gfx120X_all";
/// empty when there is none.
[[nodiscard]] std::string sdk_libraries(const std::vector<std::string>& sdk_folders);

}  // namespace sage
