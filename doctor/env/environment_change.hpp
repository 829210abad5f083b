#pragma once

#include <map>
#include <string>

#include "doctor/env/env_plan.hpp"

namespace sage {

using EnvironmentValues = std::map<std::string, std::string>;

/// The environment after the script of `plan` was sourced in `values`: what templates/env/posix.sh does, notes
/// (SAGE_DOCTOR_ENV_*) included. What an earlier script did is taken back first.
[[nodiscard]] EnvironmentValues activated(const EnvironmentValues& values, const EnvPlan& plan);

/// The environment after sage_doctor_deactivate: what the notes say is taken back, and the notes are gone. A value that
/// was changed since is left alone. Without notes nothing changes.
[[nodiscard]] EnvironmentValues deactivated(EnvironmentValues values);

}  // namespace sage
