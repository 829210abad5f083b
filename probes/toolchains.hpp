#pragma once

#include "probes/facts/facts.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// Every compiler for GPUs with the tree it works from, by files alone; what torch would take for ROCM_HOME; what else
/// building needs.
[[nodiscard]] Toolchains probe_toolchains(const Host& host, const ProbeOptions& options, const Python& python);

}  // namespace sage
