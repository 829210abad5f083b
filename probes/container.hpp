#pragma once

#include <optional>
#include <string>

#include "probes/base/fact.hpp"
#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Which kind of container this process runs in; `none` on a plain system, a WSL distribution included. Unknown when
/// not one of the places that would tell could be looked at.
[[nodiscard]] Fact<ContainerKind> probe_container(const Host& host);

/// Why `what`, which belongs to the machine and not to a container's own files, can't be seen from here; nullopt
/// outside of containers.
[[nodiscard]] std::optional<Error> hidden_by_container(const Fact<ContainerKind>& container, const std::string& what);

}  // namespace sage
