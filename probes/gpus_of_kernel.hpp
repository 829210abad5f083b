#pragma once

#include "probes/facts/gpus.hpp"
#include "probes/gfx_tables.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// What KFD and PCI tell of the GPUs. Target, name and kind are left for probe_gpus() to settle, but for a kind that
/// KFD decides.
[[nodiscard]] Gpus gpus_of_kernel(const Host& host, const GfxTables& tables);

}  // namespace sage
