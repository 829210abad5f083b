#pragma once

#include <string>

#include "probes/host/capture.hpp"

namespace sage {

/// The capture.toml of a capture whose contents of files are stored below root/. What follows from other entries or is
/// the default is not written. Numbers above the range of TOML (63 bits) become its largest; text that is no UTF-8
/// gets U+FFFD in place of the wrong bytes.
[[nodiscard]] std::string capture_to_toml(const Capture& capture);

}  // namespace sage
