#pragma once

#include <vector>

#include "probes/facts/environment.hpp"

namespace sage {

/// True when start-up files set the variable and all of them are such as only a shell that somebody types into reads to
/// the end: ~/.bashrc, /etc/bash.bashrc, ~/.zshrc (facts/wsl.md 2.8). Editors, services and cron jobs go without it.
[[nodiscard]] bool set_only_interactively(const std::vector<Assignment>& assignments);

}  // namespace sage
