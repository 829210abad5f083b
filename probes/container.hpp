#pragma once

#include "probes/base/fact.hpp"
#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Which kind of container this process runs in; `none` on a plain system, a WSL distribution included. Unknown when
/// not one of the places that would tell could be looked at.
[[nodiscard]] Fact<ContainerKind> probe_container(const Host& host);

}  // namespace sage
