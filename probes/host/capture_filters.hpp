#pragma once

#include "probes/host/capture.hpp"

namespace sage {

/// Leaves in a recorded capture only what probes look at: of a start-up file the lines that set an allow-listed
/// variable, of /etc/group the groups that matter here, of the kernel log the GPU driver's lines, and so on. Contents
/// of a file that no rule allows are left out, and reading it says so in a replay. The facts stay the same.
/// This is about secrets and other people's data, and does not depend on redaction.
void filter_capture(Capture& capture);

}  // namespace sage
