#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "probes/dids_conf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto devices = sage::parse_dids_conf({reinterpret_cast<const char*>(data), size}, "dids.conf");
  if (devices.size() > 256) std::abort();
  for (const sage::AllowedDevice& device : devices) {
    if (device.device_id > 0xffff || !device.target.starts_with("gfx")) std::abort();
  }
  return 0;
}
