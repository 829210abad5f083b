#include "probes/control_group.hpp"

#include <algorithm>
#include <optional>

#include "probes/base/text.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

/// A control group deeper than this is not believed; the kernel's own limit is far lower in practice.
constexpr std::size_t deepest_group = 32;

/// A mounted hierarchy of control groups, and the place of this process in it.
struct GroupPlace {
  std::string mount;
  std::string group;  ///< "/user.slice/user-1000.slice"
  std::string limit_file;
};

/// Lines of /proc/self/cgroup are "id:controllers:path"; version 2 has id 0 and no controllers (cgroups(7)).
std::optional<GroupPlace> place_of(std::string_view line, const ControlGroupLimit& limit) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string group(line.substr(second + 1));
  const std::string root = "/sys/fs/cgroup";
  if (controllers.empty()) return GroupPlace{root, group, std::string(limit.version_2)};
  for (const std::string_view controller : split(controllers, ',')) {
    if (controller != limit.controller) continue;
    return GroupPlace{root + "/" + std::string(controller), group, std::string(limit.version_1)};
  }
  return std::nullopt;
}

void add_files(const GroupPlace& place, std::vector<std::string>& files) {
  std::string group = place.group;
  if (contains(group + "/", "/../")) group.clear();
  for (std::size_t depth = 0; group.size() > 1 && group.starts_with('/') && depth < deepest_group; ++depth) {
    files.push_back(place.mount + group + "/" + place.limit_file);
    group.erase(group.rfind('/'));
  }
  files.push_back(place.mount + "/" + place.limit_file);
}

constexpr std::string_view quota_file = "cpu.cfs_quota_us";
constexpr std::string_view period_file = "cpu.cfs_period_us";

struct Quota {
  std::uint64_t time = 0;    ///< microseconds of processor time in each period
  std::uint64_t period = 0;  ///< microseconds
};

/// cpu.max of version 2 has both numbers ("max 100000": no quota); version 1 has two files (-1: no quota).
std::optional<Quota> quota_of(const Host& host, const std::string& file) {
  const Result<std::string> text = read_trimmed(host, file);
  if (!text) return std::nullopt;
  std::string numbers = *text;
  if (file.ends_with(quota_file)) {
    const std::string folder = file.substr(0, file.size() - quota_file.size());
    numbers += " " + read_trimmed(host, folder + std::string(period_file)).value_or("");
  }
  const auto parts = words(numbers);
  if (parts.size() != 2) return std::nullopt;
  const auto time = parse_number(parts[0]);
  const auto period = parse_number(parts[1]);
  if (!time || !period || *time == 0 || *period == 0) return std::nullopt;
  return Quota{*time, *period};
}

}  // namespace

std::vector<std::string> control_group_files(std::string_view groups, const ControlGroupLimit& limit) {
  std::vector<std::string> files;
  for (const std::string_view line : lines(groups)) {
    if (const auto place = place_of(line, limit)) add_files(*place, files);
  }
  return files;
}

std::uint32_t cpus_within_quota(const Host& host, std::uint32_t cpus) {
  const Result<std::string> groups = host.read_file("/proc/self/cgroup");
  if (!groups) return cpus;
  for (const std::string& file : control_group_files(*groups, {"cpu", quota_file, "cpu.max"})) {
    const auto quota = quota_of(host, file);
    if (!quota) continue;
    const std::uint64_t whole = quota->time / quota->period + (quota->time % quota->period == 0 ? 0 : 1);
    cpus = static_cast<std::uint32_t>(std::min<std::uint64_t>(cpus, whole));
  }
  return cpus;
}

}  // namespace sage
