#pragma once

#include <string>
#include <vector>

#include "probes/facts/python.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Describes <site>/torch by its names and small files. `site_names` are the names in the site's folder, `packages` the
/// distributions that may be its record.
[[nodiscard]] TorchInstall describe_torch(const Host& host, const PythonSite& site,
                                          const std::vector<std::string>& site_names,
                                          const std::vector<PythonPackage>& packages);

/// True for the file of a development install of torch that says where its tree is.
[[nodiscard]] bool is_editable_finder(const std::string& name);

}  // namespace sage
