#include "doctor/build/compile_jobs.hpp"

#include <algorithm>

namespace sage {

std::size_t compile_jobs(const Platform& platform) {
  const std::uint64_t cpus = platform.usable_cpus.value_or(1);
  std::uint64_t memory = platform.memory_available.value_or(compile_memory_bytes);
  if (platform.memory_limit.known()) memory = std::min(memory, *platform.memory_limit);
  return static_cast<std::size_t>(std::max<std::uint64_t>(std::min(cpus, memory / compile_memory_bytes), 1));
}

}  // namespace sage
