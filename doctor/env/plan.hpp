#pragma once

#include <string>

#include "doctor/checks/check.hpp"
#include "doctor/env/env_plan.hpp"
#include "doctor/env/toolchain_choice.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// What the user asked for.
struct EnvRequest {
  ToolchainWish wish;
  std::string override_gfx;   ///< HSA_OVERRIDE_GFX_VERSION, "11.0.0"; empty: none
  bool force = false;         ///< settings win over values of the user's own
  bool python_named = false;  ///< the facts are of a Python that the user named
};

/// The least that has to be set so that the toolchain and runtime of `input` can be used. The facts must be those of an
/// environment without our own settings (deactivated()). Changes nothing and looks at nothing else.
/// The Error is why there is nothing to set up: nothing usable, or not what was asked for.
[[nodiscard]] Result<EnvPlan> plan_environment(const CheckInput& input, const EnvRequest& request);

}  // namespace sage
