#include "doctor/checks/build_jobs.hpp"

#include <algorithm>

namespace sage {
namespace {

// What a desktop, an editor and the build's own Python take. An estimate.
constexpr std::uint64_t memory_for_others = 2ULL << 30;

std::uint64_t jobs_in(std::uint64_t memory, std::uint64_t memory_per_job, std::uint64_t cpus) {
  return std::max<std::uint64_t>(std::min(memory / memory_per_job, cpus), 1);
}

}  // namespace

Fact<std::uint64_t> fitting_build_jobs(const Platform& platform, std::uint64_t memory_per_job) {
  using Jobs = Fact<std::uint64_t>;
  if (!platform.memory_limit.known()) return Jobs::unknown(platform.memory_limit.why_unknown());
  if (!platform.memory_available.known()) return Jobs::unknown(platform.memory_available.why_unknown());
  if (!platform.usable_cpus.known()) return Jobs::unknown(platform.usable_cpus.why_unknown());
  return jobs_in(std::min(*platform.memory_available, *platform.memory_limit), memory_per_job, *platform.usable_cpus);
}

Fact<std::uint64_t> lasting_build_jobs(const Platform& platform) {
  using Jobs = Fact<std::uint64_t>;
  if (!platform.memory_limit.known()) return Jobs::unknown(platform.memory_limit.why_unknown());
  if (!platform.usable_cpus.known()) return Jobs::unknown(platform.usable_cpus.why_unknown());
  const std::uint64_t memory = *platform.memory_limit;
  return jobs_in(memory - std::min(memory, memory_for_others), memory_per_extension_job, *platform.usable_cpus);
}

}  // namespace sage
