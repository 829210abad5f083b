#pragma once

#include <string>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The folder of installations, absolute: the given one, else sage-doctor in the user's data folder (XDG_DATA_HOME, else
/// ~/.local/share). Error: nothing was given and the user has no home.
[[nodiscard]] Result<std::string> prefix_for(const std::string& given, const Host& host);

}  // namespace sage
