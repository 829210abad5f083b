#pragma once

#include "probes/base/redaction.hpp"
#include "probes/host/capture.hpp"

namespace sage {

[[nodiscard]] KnownNames known_names(const ProcessIdentity& process);

/// The capture without personal data, paths included: what stood under one path still does, so that a replay finds the
/// same files. Takes up everything in the capture into `redaction` first.
[[nodiscard]] Capture redacted(const Capture& capture, Redaction redaction);

}  // namespace sage
