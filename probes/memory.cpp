#include "probes/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// A control group deeper than this is not believed; the kernel's own limit is far lower in practice.
constexpr std::size_t deepest_group = 32;

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

/// A mounted hierarchy of control groups, and the place of this process in it.
struct GroupPlace {
  std::string mount;
  std::string group;  ///< "/user.slice/user-1000.slice"
  std::string limit_file;
};

/// Lines of /proc/self/cgroup are "id:controllers:path"; version 2 has id 0 and no controllers (cgroups(7)).
std::optional<GroupPlace> place_of(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string group(line.substr(second + 1));
  if (controllers.empty()) return GroupPlace{"/sys/fs/cgroup", group, "memory.max"};
  for (const std::string_view controller : split(controllers, ',')) {
    if (controller == "memory") return GroupPlace{"/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"};
  }
  return std::nullopt;
}

/// The limit files from the process's group up to the root. A path with ".." leads out of the namespace's view: then
/// only the root that is mounted here counts. The root is always asked: in a container without its own namespace the
/// path is the host's, and what is mounted as root is the container's group.
std::vector<std::string> limit_files(const GroupPlace& place) {
  std::vector<std::string> files;
  std::string group = place.group;
  if (contains(group + "/", "/../")) group.clear();
  while (group.size() > 1 && group.starts_with('/') && files.size() < deepest_group) {
    files.push_back(place.mount + group + "/" + place.limit_file);
    group.erase(group.rfind('/'));
  }
  files.push_back(place.mount + "/" + place.limit_file);
  return files;
}

Fact<std::uint64_t> memory_limit(const Host& host, const Fact<std::uint64_t>& total) {
  using Size = Fact<std::uint64_t>;
  if (!total.known()) return total;
  const Result<std::string> groups = host.read_file("/proc/self/cgroup");
  if (!groups) return is_absent(groups.error()) ? total : Size::unknown(groups.error());

  std::uint64_t limit = *total;
  for (const std::string_view line : lines(*groups)) {
    const auto place = place_of(line);
    if (!place) continue;
    for (const std::string& file : limit_files(*place)) {
      const Result<std::string> text = read_trimmed(host, file);
      if (!text && is_absent(text.error())) continue;
      if (!text) return Size::unknown(text.error());
      if (*text == "max") continue;
      const auto bytes = parse_number(*text);
      if (!bytes) return Size::unknown(file + ": not a number of bytes");
      limit = std::min(limit, *bytes);
    }
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
