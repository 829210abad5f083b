#pragma once

#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The machine around the GPU: what kind it is, container, distribution, C and C++ library, user, CPU, memory and
/// Secure Boot.
[[nodiscard]] Platform probe_platform(const Host& host);

}  // namespace sage
