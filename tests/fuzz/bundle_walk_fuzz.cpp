#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "probes/host/bundle_walk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // The file ends before the section does, as one that shrinks.
  const sage::ReadPiece read = [&](std::uint64_t at, std::size_t count) -> sage::Result<std::string> {
    return std::string(bytes.substr(std::min<std::uint64_t>(at, bytes.size()), count));
  };
  sage::BundleWalkLimits limits;
  limits.bytes = 1024 * 1024;
  limits.bundles = 64;
  const sage::BundleWalk walk = sage::walk_bundles(read, 0, size + size / 16, limits);
  for (const sage::FoundBundle& bundle : walk.bundles) {
    if (bundle.size == 0 || bundle.offset > size + size / 16) std::abort();
  }
  for (const std::string& target : sage::bundled_targets(walk)) {
    if (target.empty() || target.find('\x1b') != std::string::npos) std::abort();
  }
  return 0;
}
