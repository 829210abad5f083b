#pragma once

#include "doctor/cli/commands.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/env/apply.hpp"

namespace sage {

/// The tried plan for the session's machine, as `env` and `run` want it.
[[nodiscard]] Result<TriedPlan> make_plan(const EnvOptions& options, const Session& session);

}  // namespace sage
