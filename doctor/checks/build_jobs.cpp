#include "doctor/checks/build_jobs.hpp"

#include <algorithm>

namespace sage {
Fact<std::uint64_t> fitting_build_jobs(const Platform& platform, std::uint64_t memory_per_job) {
  using Jobs = Fact<std::uint64_t>;
  if (!platform.memory_limit.known()) return Jobs::unknown(platform.memory_limit.why_unknown());
  if (!platform.memory_available.known()) return Jobs::unknown(platform.memory_available.why_unknown());
  if (!platform.usable_cpus.known()) return Jobs::unknown(platform.usable_cpus.why_unknown());
  const std::uint64_t free = std::min(*platform.memory_available, *platform.memory_limit);
  return std::max<std::uint64_t>(std::min<std::uint64_t>(free / memory_per_job, *platform.usable_cpus), 1);
}

}  // namespace sage
