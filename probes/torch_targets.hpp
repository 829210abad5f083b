#pragma once

#include <string>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Adds to a described torch what it has code for: the code objects and the folders of libtorch_hip.so, and the names in
/// its data folders (facts/wheels.md 2.2, 2.12). A RPATH to the SDK wheels decides the family. `math_folder` holds
/// hipblaslt/library: torch/lib, or lib of the SDK's libraries.
void read_torch_targets(const Host& host, const std::string& math_folder, TorchInstall& torch);

/// The gfx targets in file names such as "TensileLibrary_Type_HH_gfx1201.dat", sorted, each once.
[[nodiscard]] std::vector<std::string> targets_in_names(const std::vector<std::string>& names);

}  // namespace sage
