#include <cstddef>
#include <cstdint>

#include "probes/host/loader_cache.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)sage::parse_loader_cache({reinterpret_cast<const char*>(data), size});
  return 0;
}
