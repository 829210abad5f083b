#pragma once

#include <memory>

#include "probes/host/capture.hpp"

namespace sage {

/// A Host that answers from `capture` alone and never looks at the machine it runs on. Paths are resolved as the
/// kernel does (symlinks on the way, at most 40); reading asks for no permission, since a capture says with read_error
/// what could not be read.
[[nodiscard]] std::unique_ptr<Host> make_captured_host(Capture capture);

}  // namespace sage
