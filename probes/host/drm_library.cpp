#include "probes/host/drm_library.hpp"

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <xf86drm.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "probes/base/errno_name.hpp"
#include "probes/host/descriptor.hpp"

namespace sage {
namespace {

/// The functions in use, typed by libdrm's own headers.
struct Library {
  decltype(&drmGetDevice2) get_device = nullptr;
  decltype(&drmFreeDevice) free_device = nullptr;
  decltype(&amdgpu_device_initialize) initialize = nullptr;
  decltype(&amdgpu_device_deinitialize) deinitialize = nullptr;
  decltype(&amdgpu_get_marketing_name) marketing_name = nullptr;
  decltype(&amdgpu_query_info) query_info = nullptr;
};

Error loader_error() {
  const char* const text = dlerror();
  return {0, text == nullptr ? "the loader gave no reason" : text};
}

Result<Library> load_library() {
  void* const drm = dlopen("libdrm.so.2", RTLD_NOW | RTLD_LOCAL);
  if (drm == nullptr) return loader_error();
  void* const amdgpu = dlopen("libdrm_amdgpu.so.1", RTLD_NOW | RTLD_LOCAL);
  if (amdgpu == nullptr) return loader_error();
  Library library;
  const auto find = [](void* from, const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(from, name));
    return function != nullptr;
  };
  const bool complete = find(drm, "drmGetDevice2", library.get_device) &&
                        find(drm, "drmFreeDevice", library.free_device) &&
                        find(amdgpu, "amdgpu_device_initialize", library.initialize) &&
                        find(amdgpu, "amdgpu_device_deinitialize", library.deinitialize) &&
                        find(amdgpu, "amdgpu_get_marketing_name", library.marketing_name) &&
                        find(amdgpu, "amdgpu_query_info", library.query_info);
  if (!complete) return loader_error();
  return library;
}

std::string pci_address(const Library& library, int node) {
  drmDevicePtr device = nullptr;
  if (library.get_device(node, 0, &device) != 0 || device == nullptr) return "";
  std::array<char, 32> text{};
  if (device->bustype == DRM_BUS_PCI && device->businfo.pci != nullptr) {
    const drmPciBusInfo& pci = *device->businfo.pci;
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.dev, pci.func);
  }
  library.free_device(&device);
  return text.data();
}

Result<DrmDeviceReply> ask_node(const Library& library, const std::string& path) {
  const Descriptor node(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!node.valid()) return system_error(errno, path);
  DrmDeviceReply reply;
  reply.render_node = path;
  reply.pci_address = pci_address(library, node.number());

  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  amdgpu_device_handle device = nullptr;
  const int status = library.initialize(node.number(), &major, &minor, &device);
  if (status != 0) return system_error(status < 0 ? -status : status, path + ": amdgpu_device_initialize");
  if (const char* const name = library.marketing_name(device); name != nullptr) reply.marketing_name = name;
  drm_amdgpu_memory_info memory = {};
  if (library.query_info(device, AMDGPU_INFO_MEMORY, sizeof memory, &memory) == 0) {
    reply.vram_bytes = memory.vram.total_heap_size;
  }
  library.deinitialize(device);
  return reply;
}

}  // namespace

Result<std::vector<DrmDeviceReply>> ask_drm_library(const std::vector<std::string>& render_nodes) {
  const auto library = load_library();
  if (!library.ok()) return library.error();
  std::vector<DrmDeviceReply> replies;
  std::optional<Error> first_failure;
  for (const std::string& path : render_nodes) {
    auto reply = ask_node(*library, path);
    if (reply.ok()) {
      replies.push_back(std::move(*reply));
    } else if (!first_failure) {
      first_failure = reply.error();
    }
  }
  if (replies.empty() && first_failure) return *first_failure;
  return replies;
}

}  // namespace sage
