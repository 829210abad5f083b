#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/wsl.hpp"

namespace sage {

/// The devices that a dids.conf allows: lines "0xDID,major,minor,stepping", # starts a comment (facts/wsl.md 2.5).
/// Lines of another form are passed over; like librocdxg it takes at most 256. `file` goes into the result.
[[nodiscard]] std::vector<AllowedDevice> parse_dids_conf(std::string_view text, const std::string& file);

}  // namespace sage
