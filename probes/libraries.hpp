#pragma once

#include "probes/facts/facts.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// Every copy of the libraries of which a process must have one only, and which of them a process gets. Files alone.
[[nodiscard]] Libraries probe_libraries(const Host& host, const ProbeOptions& options, const Python& python);

}  // namespace sage
