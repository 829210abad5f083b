#pragma once

#include <string>
#include <vector>

#include "doctor/checks/check.hpp"
#include "doctor/env/environment_change.hpp"
#include "doctor/env/plan.hpp"
#include "probes/host/host.hpp"
#include "probes/probe.hpp"

namespace sage {

/// What the machine says under one environment.
struct Judgement {
  Facts facts;
  std::vector<Finding> findings;
};

/// Probes and checks `host` as a process with these variables would see it.
[[nodiscard]] Judgement judge_environment(const Host& host, const EnvironmentValues& values, const GfxTables& tables,
                                          const ProbeOptions& options);

/// "id (subject)" of each failure that `after` has and `before` has not, and that is the environment's doing: what was
/// not judged before, since it waited for something that is mended now, is not. Also a second copy of libamdhip64 that
/// some kind of process would load.
[[nodiscard]] std::vector<std::string> made_worse(const Judgement& before, const Judgement& after);

/// "id (subject)" of each failure and warning of `before` that `after` has no more.
[[nodiscard]] std::vector<std::string> mended_by(const Judgement& before, const Judgement& after);

/// A plan that was tried: probes and checks ran in the environment that it makes.
struct TriedPlan {
  EnvPlan plan;             ///< with what it mends, and a note for each setting that was left out
  EnvironmentValues values; ///< the environment that it was made in, our own settings taken back
};

/// Plans for `host`, tries the plan and leaves out what would make something fail that does not fail now. With
/// --override-gfx and without --force a failure is an Error: the user is to know before he insists.
[[nodiscard]] Result<TriedPlan> plan_and_try(const Host& host, const GfxTables& tables, const ProbeOptions& options,
                                             const EnvRequest& request);

}  // namespace sage
