#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Runs `arguments` (the first is a path or a name looked up in PATH) without a shell: stdin is /dev/null, 1 MiB of
/// stdout and of stderr are kept, the process group is killed at the deadline. Error with the errno when the program
/// can't be started; a bad exit status, a signal or a missed deadline stands in the output.
[[nodiscard]] Result<ProgramOutput> run_foreign_program(const std::vector<std::string>& arguments,
                                                        std::chrono::milliseconds deadline);

}  // namespace sage
