#pragma once

#include <filesystem>

#include "probes/host/capture.hpp"

namespace sage {

/// Reads a capture folder and the captures that it extends (docs/capture-format.md). The folder is untrusted: nothing
/// outside of it and its sibling captures is touched, and caps bound what it may bring in. An error names the file, the
/// line where there is one, and the key.
[[nodiscard]] Result<Capture> read_capture(const std::filesystem::path& folder);

/// The format of this version.
inline constexpr int capture_version = 1;

}  // namespace sage
