#pragma once

#include <memory>

#include "probes/host/host.hpp"

namespace sage {

/// The machine this process runs on.
[[nodiscard]] std::unique_ptr<Host> make_live_host();

}  // namespace sage
