#pragma once

#include <string>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Describes <site>/torch. `site_names` are the names in the site's folder, `packages` its distributions.
[[nodiscard]] TorchInstall describe_torch(const Host& host, const PythonSite& site,
                                          const std::vector<std::string>& site_names,
                                          const std::vector<PythonPackage>& packages);

/// The gfx targets in file names such as "TensileLibrary_Type_HH_gfx1201.dat", sorted, each once.
[[nodiscard]] std::vector<std::string> targets_in_names(const std::vector<std::string>& names);

}  // namespace sage
