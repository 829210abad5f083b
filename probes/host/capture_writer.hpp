#pragma once

#include <cstddef>
#include <filesystem>

#include "probes/base/redaction.hpp"
#include "probes/host/capture.hpp"

namespace sage {

/// What write_capture() has written.
struct WrittenCapture {
  std::size_t files = 0;  ///< without folders
  std::size_t bytes = 0;
};

/// Writes a recorded capture as a folder (docs/capture-format.md): filtered (capture_filters.hpp), then redacted by
/// `redaction`, a default-made one for none. `folder` must not exist, or be empty; its parent must exist. The capture
/// is written beside it, read back as a test and then renamed, so a failure leaves nothing at `folder`. Only the owner
/// may read it: files are 0600, folders 0700.
[[nodiscard]] Result<WrittenCapture> write_capture(const Capture& capture, const std::filesystem::path& folder,
                                                   const Redaction& redaction);

}  // namespace sage
