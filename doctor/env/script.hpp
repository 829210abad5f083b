#pragma once

#include <string>
#include <string_view>

#include "doctor/env/env_plan.hpp"
#include "doctor/env/environment_change.hpp"
#include "doctor/env/shell.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// What a script says of itself besides its plan.
struct ScriptOrigin {
  std::string tool_version;
  std::string time;            ///< "2026-11-30T23:00:00Z"
  EnvironmentValues values;    ///< the environment it is made in, for formats that hold finished values
};

/// The plan in this language. The Error names the variable that the language has no way to write, and why.
[[nodiscard]] Result<std::string> write_script(const EnvPlan& plan, Shell shell, const ScriptOrigin& origin);

/// One line in this language that fails when it is sourced, loaded or run, and says why.
[[nodiscard]] std::string failing_script(Shell shell, std::string_view reason);

/// A text on one line of printable characters: control characters as \xHH.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace sage
