#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The mounts in the text of /proc/self/mountinfo (proc_pid_mountinfo(5)), in its order: of two at one point the later
/// one is on top. A line that is not in that form is left out; more than 100,000 lines are an Error.
[[nodiscard]] Result<std::vector<Mount>> parse_mountinfo(std::string_view text);

/// True for filesystems that answer only when somebody else does: a server, a daemon, a virtual machine's host.
[[nodiscard]] bool may_hang(const Mount& mount);

}  // namespace sage
