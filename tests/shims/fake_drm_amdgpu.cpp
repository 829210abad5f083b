// Stands in for libdrm_amdgpu.so.1. SAGE_FAKE_DRM says how it behaves: "abort", "exit", "hang", "print", "nameless",
// "refuse", or a healthy 16 GiB card.

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

std::string_view scenario() {
  const char* const value = std::getenv("SAGE_FAKE_DRM");
  return value == nullptr ? "" : value;
}

}  // namespace

extern "C" {

int amdgpu_device_initialize(int /*node*/, uint32_t* major, uint32_t* minor, amdgpu_device_handle* device) {
  if (scenario() == "abort") std::abort();
  if (scenario() == "exit") std::exit(9);
  if (scenario() == "print") std::puts("amdgpu_device_initialize: noise on the standard output");
  if (scenario() == "refuse") return -EACCES;
  while (scenario() == "hang") pause();
  *major = 3;
  *minor = 64;
  *device = reinterpret_cast<amdgpu_device_handle>(1);
  return 0;
}

int amdgpu_device_deinitialize(amdgpu_device_handle /*device*/) {
  return 0;
}

const char* amdgpu_get_marketing_name(amdgpu_device_handle /*device*/) {
  return scenario() == "nameless" ? nullptr : "AMD Radeon RX 9070 XT";
}

int amdgpu_query_info(amdgpu_device_handle /*device*/, unsigned id, unsigned size, void* value) {
  if (id != AMDGPU_INFO_MEMORY || size != sizeof(drm_amdgpu_memory_info)) return -EINVAL;
  drm_amdgpu_memory_info memory = {};
  memory.vram.total_heap_size = std::uint64_t{16} << 30;
  std::memcpy(value, &memory, sizeof memory);
  return 0;
}
}
