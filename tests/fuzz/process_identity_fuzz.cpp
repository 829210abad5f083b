#include <cstddef>
#include <cstdint>

#include "probes/host/process_identity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)sage::find_user({reinterpret_cast<const char*>(data), size}, 1000);
  return 0;
}
