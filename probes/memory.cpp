#include "probes/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/control_group.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// One "Name:  123 kB" line of /proc/meminfo in bytes.
Fact<std::uint64_t> meminfo_value(const Result<std::string>& text, std::string_view name) {
  using Size = Fact<std::uint64_t>;
  if (!text) return Size::unknown(text.error());
  for (const std::string_view line : lines(*text)) {
    const auto parts = words(line);
    if (parts.size() < 2 || parts[0] != name) continue;
    const auto kib = parse_number(parts[1]);
    if (!kib || *kib > std::numeric_limits<std::uint64_t>::max() / 1024) break;
    return *kib * 1024;
  }
  return Size::unknown("/proc/meminfo: no usable line " + std::string(name));
}

Fact<std::uint64_t> memory_limit(const Host& host, const Fact<std::uint64_t>& total) {
  using Size = Fact<std::uint64_t>;
  if (!total.known()) return total;
  const Result<std::string> groups = host.read_file("/proc/self/cgroup");
  if (!groups) return is_absent(groups.error()) ? total : Size::unknown(groups.error());

  std::uint64_t limit = *total;
  for (const std::string& file : control_group_files(*groups, {"memory", "memory.limit_in_bytes", "memory.max"})) {
    const Result<std::string> text = read_trimmed(host, file);
    if (!text && is_absent(text.error())) continue;
    if (!text) return Size::unknown(text.error());
    if (*text == "max") continue;
    const auto bytes = parse_number(*text);
    if (!bytes) return Size::unknown(file + ": not a number of bytes");
    limit = std::min(limit, *bytes);
  }
  return limit;
}

}  // namespace

void probe_memory(const Host& host, Platform& platform) {
  const Result<std::string> meminfo = host.read_file("/proc/meminfo");
  platform.memory_total = meminfo_value(meminfo, "MemTotal:");
  platform.memory_available = meminfo_value(meminfo, "MemAvailable:");
  platform.swap_total = meminfo_value(meminfo, "SwapTotal:");
  platform.swap_free = meminfo_value(meminfo, "SwapFree:");
  platform.memory_limit = memory_limit(host, platform.memory_total);
  platform.shm_size = host.filesystem_size("/dev/shm");
}

}  // namespace sage
