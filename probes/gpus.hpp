#pragma once

#include "probes/facts/gpus.hpp"
#include "probes/facts/platform.hpp"
#include "probes/facts/wsl.hpp"
#include "probes/gfx_tables.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// The GPUs of the machine: from KFD, PCI, IP discovery and, for names and memory, libdrm; under WSL2 and in GPU-PV
/// guests from the adapters that `wsl` holds. Claims about a GPU's gfx target are recorded one by one; `target` is the
/// best of them.
[[nodiscard]] Gpus probe_gpus(const Host& host, const GfxTables& tables, const ProbeOptions& options,
                              const Platform& platform, const Wsl& wsl);

}  // namespace sage
