#pragma once

#include "probes/facts/platform.hpp"
#include "probes/facts/wsl.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// True where /dev/dxg is the way to the GPU: under WSL2 and in GPU-PV guests of Hyper-V.
[[nodiscard]] bool has_dxg(const Platform& platform);

/// The facts of WSL2 (facts/wsl.md 2.4 to 2.7, W2 to W9). It is the one caller of Host::dxg_adapters(). Windows
/// programs run and /mnt/c is touched only with options.deep.
[[nodiscard]] Wsl probe_wsl(const Host& host, const ProbeOptions& options, const Platform& platform, const Python& python);

}  // namespace sage
