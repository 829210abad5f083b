#pragma once

#include <string>

#include "probes/facts/installation.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// Where kernels are installed unless the user names a prefix: $XDG_DATA_HOME/sage-doctor, else
/// ~/.local/share/sage-doctor (XDG Base Directory Specification). Empty when there is neither.
[[nodiscard]] std::string default_prefix(const Host& host);

/// What the default prefix holds. Files are looked for by their names; their contents are not read.
[[nodiscard]] Installation probe_installation(const Host& host, const ProbeOptions& options);

}  // namespace sage
