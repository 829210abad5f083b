#pragma once

#include <string>
#include <string_view>

namespace sage {

/// True for the kernel log lines that say something about the GPU driver: amdgpu, kfd, dxg, drm, IOMMU, refused modules
/// and missing firmware. The driver probe reports these, a capture holds these; all others are nobody's business.
[[nodiscard]] bool kernel_log_line_kept(std::string_view line);

/// The line without "<6>", "[   12.345678]" and "[   12.345678][ T123]" at its start.
[[nodiscard]] std::string without_log_stamp(std::string_view line);

}  // namespace sage
