#include "tests/support/killing.hpp"

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace sage {
namespace {

/// A child that is stopped before act(); -1 when it can't be traced.
pid_t stopped_child(const std::function<void()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    act();
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSTOPPED(status) ? child : -1;
}

/// False when the child came to its end first.
bool runs_until_call(pid_t child, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    int status = 0;
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
  }
  return true;
}

}  // namespace

std::size_t kill_at_every_call(const std::function<void(std::size_t)>& act,
                               const std::function<void(std::size_t)>& look) {
  for (std::size_t n = 1;; ++n) {
    const pid_t child = stopped_child([&] { act(n); });
    if (child < 0) return 0;
    const bool running = runs_until_call(child, n);
    if (running) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    look(n);
    if (!running) return n - 1;
  }
}

int status_in_child(const std::function<bool()>& act) {
  const pid_t child = fork();
  if (child == 0) _exit(act() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace sage
