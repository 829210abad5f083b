#pragma once

#include "probes/facts/facts.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// What compilers, runtimes and the environment's Python do when they are run. Unknown without --deep.
[[nodiscard]] Proofs probe_proofs(const Host& host, const ProbeOptions& options, const Facts& facts);

}  // namespace sage
