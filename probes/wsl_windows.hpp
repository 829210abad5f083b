#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/facts/wsl.hpp"
#include "probes/host/host.hpp"
#include "probes/wsl_conf.hpp"

namespace sage {

/// Fills what only Windows can tell: the settings of .wslconfig and the display adapters. Runs Windows programs below
/// the mount of drive C, each with a deadline; `conf` is /etc/wsl.conf, which says where drives are mounted.
void probe_windows(const Host& host, const WslConf& conf, Wsl& wsl);

/// "C:\Users\A" below `mount_root` ("/mnt/"): "/mnt/c/Users/A". Error: not an absolute path on a drive.
[[nodiscard]] Result<std::string> linux_path(std::string_view windows_path, const std::string& mount_root);

/// The adapters in the JSON of Win32_VideoController (one object or a list): "name | driver | PNP id".
[[nodiscard]] Result<std::vector<std::string>> parse_video_controllers(std::string_view json);

}  // namespace sage
