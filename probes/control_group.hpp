#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/host/host.hpp"

namespace sage {

/// A limit of a control group, and the files that hold it (cgroups(7)).
struct ControlGroupLimit {
  std::string_view controller;    ///< "memory"
  std::string_view version_1;     ///< file name
  std::string_view version_2;
};

/// Where the limit may stand, from the process's group up to the root; `groups` is /proc/self/cgroup. A path with ".." leads out of
/// the namespace's view: then only the root that is mounted here counts. The root is always asked: in a container without
/// its own namespace the path is the host's, and what is mounted as root is the container's group.
[[nodiscard]] std::vector<std::string> control_group_files(std::string_view groups, const ControlGroupLimit& limit);

/// How many of `cpus` the process may keep busy by its control groups' quotas of processor time: rounded up, at least 1. A quota
/// that can't be read is none.
[[nodiscard]] std::uint32_t cpus_within_quota(const Host& host, std::uint32_t cpus);

}  // namespace sage
