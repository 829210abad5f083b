#pragma once

#include <cstddef>
#include <functional>

namespace sage {

/// Runs `act(n)` in a child process for n = 1, 2, ... and kills the n-th with SIGKILL at its n-th entry to or return
/// from a system call; `look(n)` follows each death. Ends with the first child that comes to its end, after the last
/// look at it. So every state that a killed process can leave on the disk is seen. The number of kills; 0: tracing is
/// not allowed here.
std::size_t kill_at_every_call(const std::function<void(std::size_t)>& act,
                               const std::function<void(std::size_t)>& look);

/// Runs `act` in a child process. Its exit status: 0 when act() gives true, 1 when it gives false; 128 + the signal.
[[nodiscard]] int status_in_child(const std::function<bool()>& act);

}  // namespace sage
