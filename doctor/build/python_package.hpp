#pragma once

#include <string>

#include "doctor/build/install/manifest.hpp"
#include "doctor/build/install/wheel.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// The site-packages folder of the environment in use, when the kernels of these targets are of use there. Error, with the
/// way out: there is no environment, it is the system's own, has no PyTorch, or one for another vendor's GPUs.
[[nodiscard]] Result<std::string> site_for_package(const Facts& facts, const std::vector<std::string>& targets);

/// Installs the package with the library and the code objects of an installation (its folder and manifest).
[[nodiscard]] Result<WheelInstalled> install_package(const std::string& site_packages, const std::string& folder,
                                                     const Manifest& manifest);

}  // namespace sage
