#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "probes/host/mounts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto mounts = sage::parse_mountinfo({reinterpret_cast<const char*>(data), size});
  if (!mounts.ok()) return 0;
  for (const sage::Mount& mount : *mounts) {
    if (mount.point.empty() || mount.point[0] != '/') std::abort();
    (void)sage::may_hang(mount);
  }
  return 0;
}
