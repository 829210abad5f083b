#include "probes/proof_child/warden.hpp"

// A proof starts compilers that start compilers (hipcc, clang, lld) and loads libraries that start what they like, and
// each of them leaves files in TMPDIR. Whatever happens, nothing of that may be left: not when the user presses Ctrl-C,
// not when a compiler hangs, not when somebody kills us. Hence three processes:
//
//   sage-doctor check --deep   the parent; killed by Ctrl-C as any program, without cleaning up
//   the warden                 does nothing but wait; gets SIGTERM when the parent dies (PR_SET_PDEATHSIG)
//   the worker                 makes the proof; has deadlines of its own for what it runs
//
// Killing a process group is not enough: a child can leave it. So the warden makes itself the subreaper: every orphan
// among its descendants becomes its child, and it kills its children until there are none.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "probes/base/errno_name.hpp"
#include "probes/host/private_folder.hpp"
#include "probes/proof_child/surroundings.hpp"

namespace sage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int no_answer = 1;
constexpr std::chrono::seconds patience_with_the_killed{2};  // a process that is stuck in the kernel is left alone

sigset_t watched_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&watched, number);
  return watched;
}

/// Waits for the worker's end, the deadline or a signal, and says in `end` which it was.
void wait_for(pid_t worker, const sigset_t& watched, Clock::time_point until, GuardEnd& end) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(worker, &status, WNOHANG);
    if (ended == worker) {
      end.status = status;
      return;
    }
    const auto left = until - Clock::now();
    if (left <= Clock::duration::zero()) {
      end.timed_out = true;
      return;
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec pause{seconds.count(),
                         std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count()};
    const int caught = sigtimedwait(&watched, nullptr, &pause);
    if (caught > 0 && caught != SIGCHLD) return;
  }
}

void kill_children() {
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (pid_t child = 0; list >> child;) kill(child, SIGKILL);
}

void end_all_descendants() {
  const auto end = Clock::now() + patience_with_the_killed;
  do {
    kill_children();
    pid_t ended = 0;
    while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    constexpr useconds_t moment = 2000;
    usleep(moment);
  } while (Clock::now() < end);
}

[[noreturn]] void be_worker(pid_t warden, const std::string& folder,
                            const std::function<int()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != warden) _exit(no_answer);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (chdir(folder.c_str()) != 0) _exit(no_answer);
  setenv("TMPDIR", folder.c_str(), 1);
  prepare_surroundings();
  int status = no_answer;
  try {
    status = work();
  } catch (...) {
    status = no_answer;
  }
  std::fflush(stdout);
  _exit(status);
}

}  // namespace

GuardEnd guard_closely(std::chrono::milliseconds deadline, const std::function<int()>& work) {
  // Until here a dying parent kills us (run_child), and there is nothing to clean up. Blocked first: SIGTERM waits.
  const sigset_t watched = watched_signals();
  ::signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &watched, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  GuardEnd end;
  const Result<std::string> folder = make_private_folder();
  if (!folder) {
    end.problem = folder.error().text;
    return end;
  }
  const pid_t warden = getpid();
  const pid_t worker = fork();
  if (worker == 0) be_worker(warden, *folder, work);

  if (worker > 0) wait_for(worker, watched, Clock::now() + deadline, end);
  if (worker < 0) end.problem = system_error(errno, "starting a child process").text;
  end_all_descendants();
  rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  constexpr std::uint64_t kibibyte = 1024;
  end.peak_memory_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * kibibyte;
  for (const timeval& time : {used.ru_utime, used.ru_stime}) {
    const auto duration = std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    end.processor_time += std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  }
  std::error_code ignored;
  std::filesystem::remove_all(*folder, ignored);
  return end;
}

int guard(std::chrono::milliseconds deadline, const std::function<int()>& work) {
  const GuardEnd end = guard_closely(deadline, work);
  if (!end.problem.empty()) {
    std::fprintf(stderr, "%s\n", end.problem.c_str());
    return no_answer;
  }
  if (!end.status || !WIFEXITED(*end.status)) {
    std::fprintf(stderr, "the proof was stopped\n");
    return no_answer;
  }
  return WEXITSTATUS(*end.status);
}

}  // namespace sage
