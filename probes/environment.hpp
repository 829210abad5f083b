#pragma once

#include "probes/facts/environment.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// The allow-listed variables, where start-up files set them, and whether the paths they name are there.
[[nodiscard]] Environment probe_environment(const Host& host, const ProbeOptions& options);

}  // namespace sage
