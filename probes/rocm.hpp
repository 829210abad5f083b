#pragma once

#include "probes/facts/platform.hpp"
#include "probes/facts/python.hpp"
#include "probes/facts/rocm.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// The ROCm trees, and every libhsa-runtime64 and librocdxg that a program could end up with: in trees, in Python
/// environments, from the distribution, by LD_LIBRARY_PATH and by the loader cache. What a libhsa contains is
/// looked for only under WSL, where it decides; it means reading the file.
[[nodiscard]] Rocm probe_rocm(const Host& host, const ProbeOptions& options, const Platform& platform,
                              const Python& python);

}  // namespace sage
