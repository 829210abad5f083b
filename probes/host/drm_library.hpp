#pragma once

#include <string>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Loads libdrm.so.2 and libdrm_amdgpu.so.1 and asks them about these render nodes. Foreign code: call it in a child.
/// A node that does not answer is left out; Error when the libraries can't be loaded or no node answered.
[[nodiscard]] Result<std::vector<DrmDeviceReply>> ask_drm_library(const std::vector<std::string>& render_nodes);

}  // namespace sage
