#pragma once

#include <vector>

#include "doctor/checks/finding.hpp"
#include "probes/facts/platform.hpp"

namespace sage {

/// True when commands will be typed in a shell of root. Not so under sudo: there only this process is root, the shell
/// is the user's. False while either is unknown.
[[nodiscard]] bool types_as_root(const Platform& platform);

/// Takes "sudo" out of the commands and the needs of a finding. Root does not need it, and a container often has none.
void leave_out_sudo(Finding& finding);

/// Of all findings, where commands will be typed as root.
void fit_commands_to_user(std::vector<Finding>& findings, const Platform& platform);

}  // namespace sage
