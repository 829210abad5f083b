#pragma once

#include <map>
#include <string>
#include <string_view>

#include "probes/facts/platform.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The NAME=value lines of an os-release file by os-release(5): shell quoting, no expansion, the last one wins. Lines
/// that are none are passed over.
[[nodiscard]] std::map<std::string, std::string, std::less<>> parse_os_release(std::string_view text);

/// From /etc/os-release, else /usr/lib/os-release. Keys that the file lacks have the defaults of os-release(5).
[[nodiscard]] Distribution probe_distribution(const Host& host);

}  // namespace sage
