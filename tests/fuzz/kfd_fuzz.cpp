#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "probes/gfx_tables.hpp"
#include "probes/kfd.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sage::KfdProperties properties({reinterpret_cast<const char*>(data), size}, "properties");
  for (const char* key : {"simd_count", "gfx_target_version", "location_id", "unique_id"}) {
    const auto number = properties.number(key, UINT32_MAX);
    if (number.ok() && (*number > UINT32_MAX || !properties.has(key))) std::abort();
    if (number.ok()) (void)sage::target_of_kfd_version(*number);
  }
  return 0;
}
