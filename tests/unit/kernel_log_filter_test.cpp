#include "probes/kernel_log_filter.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("only kernel log lines about the GPU driver are kept") {
  CHECK(kernel_log_line_kept("amdgpu 0000:03:00.0: amdgpu: VRAM: 16368M"));
  CHECK(kernel_log_line_kept("kfd kfd: amdgpu: skipped device 1002:744c, PCI rejects atomics 494<509"));
  CHECK(kernel_log_line_kept("misc dxg: dxgk: dxgkio_query_adapter_info: Ioctl failed: -22"));
  CHECK(kernel_log_line_kept("Loading of module with unavailable key is rejected; Key was rejected by service"));
  CHECK(kernel_log_line_kept("iommu: Default domain type: Translated"));
  CHECK_FALSE(kernel_log_line_kept("usb 1-2: Product: Anna's keyboard"));
  CHECK_FALSE(kernel_log_line_kept("wlan0: associated"));
  CHECK_FALSE(kernel_log_line_kept(""));
}

TEST_CASE("stamps go, brackets of the message stay") {
  CHECK(without_log_stamp("[   12.345678] [drm] initialized") == "[drm] initialized");
  CHECK(without_log_stamp("<6>[    0.000000][    T0] Linux version") == "Linux version");
  CHECK(without_log_stamp("[ 1.5][ C12] x") == "x");
  CHECK(without_log_stamp("[drm] x") == "[drm] x");
  CHECK(without_log_stamp("[unclosed") == "[unclosed");
  CHECK(without_log_stamp("") == "");
}

}  // namespace sage
