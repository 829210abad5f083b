#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/host/host.hpp"

namespace sage {

/// The folder that holds `path`; "/" for names directly below it and for texts without a slash.
[[nodiscard]] std::string parent(const std::string& path);

[[nodiscard]] bool is_folder(const Host& host, const std::string& path);

/// The value of an allow-listed variable; empty when it is not set.
[[nodiscard]] std::string variable(const Host& host, const std::string& name);

/// The absolute folders of a list like PATH, at most 128, without slashes at their ends.
[[nodiscard]] std::vector<std::string> path_folders(const std::string& list);

/// Those of `folders` that do not lie on a drive of Windows. WSL puts the Windows PATH behind its own; no interpreter
/// of this system is there, and each look over 9p costs a millisecond.
[[nodiscard]] std::vector<std::string> off_windows(const Host& host, std::vector<std::string> folders);

/// `folder` and the folders above it, the innermost first, at most 64; none when it is not absolute.
[[nodiscard]] std::vector<std::string> upward(const std::string& folder);

}  // namespace sage
