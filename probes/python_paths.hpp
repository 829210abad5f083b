#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/host/host.hpp"

namespace sage {

/// Those of `folders` that do not lie on a drive of Windows. WSL puts the Windows PATH behind its own; no interpreter
/// of this system is there, and each look over 9p costs a millisecond.
[[nodiscard]] std::vector<std::string> off_windows(const Host& host, std::vector<std::string> folders);

/// `folder` and the folders above it, the innermost first, at most 64; none when it is not absolute.
[[nodiscard]] std::vector<std::string> upward(const std::string& folder);

}  // namespace sage
