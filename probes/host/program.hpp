#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// As the first argument of Host::run_program(): this program itself, whatever file it was started from.
inline constexpr std::string_view own_program = "sage-doctor";

/// Runs `arguments` (the first is a path or a name looked up in PATH) without a shell: stdin is /dev/null, 1 MiB of
/// stdout and of stderr are kept, the process group is killed at the deadline. Error with the errno when the program
/// can't be started; a bad exit status, a signal or a missed deadline stands in the output.
[[nodiscard]] Result<ProgramOutput> run_foreign_program(const std::vector<std::string>& arguments,
                                                        std::chrono::milliseconds deadline);

/// As run_foreign_program(), but starts the running program anew; the first argument is only its name.
[[nodiscard]] Result<ProgramOutput> run_own_program(const std::vector<std::string>& arguments,
                                                    std::chrono::milliseconds deadline);

}  // namespace sage
