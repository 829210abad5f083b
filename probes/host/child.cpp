#include "probes/host/child.hpp"

// Whatever may hang, crash or damage memory (a dead network mount, an ioctl that waits for the Windows host, a vendor's
// library) runs in a child. The child is a plain fork without exec: this process has one thread, so everything that
// works here works in the child, the arguments and code are already there, and it costs a few hundred microseconds
// instead of a second start of the program, which counts when a check may take 30 ms in all.
//
// Things that need care:
// * A child blocked inside the kernel (state D) ignores SIGKILL. It is sent the signal and then left alone; waiting for
//   it would hang us in turn. It holds none of our descriptors that others wait on, since its stdio is /dev/null.
// * Our own SIGCHLD may have been inherited as ignored, and then the kernel forgets how a child ended.
// * Ctrl-C reaches only the terminal's foreground group, and the child has its own: it dies with us by PDEATHSIG.
// * A core file or a crash reporter for a library that aborts as expected would be litter. RLIMIT_CORE 1 stops both:
// too
//   small for a file, and the value that core(5) handlers behind a pipe are not started for (fs/coredump.c).

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "probes/base/errno_name.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t answer_cap = 64 * 1024 * 1024;
constexpr std::chrono::milliseconds kill_grace{1000};
constexpr int body_threw = 70;

[[noreturn]] void be_child(pid_t parent, const ChildBody& body, const std::vector<int>& write_ends) {
  settle_into_child(parent);
  int status = body_threw;
  try {
    status = body(write_ends);
  } catch (...) {
    status = body_threw;
  }
  _exit(status);
}

bool has_ended(pid_t child, siginfo_t& how) {
  how = {};
  return waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == child;
}

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Takes what the pipe has now, without running after one that is filled as fast as it is emptied. False at its end.
bool drain(int pipe, std::size_t cap, ChildStream& stream) {
  std::array<char, 64 * 1024> block;
  constexpr int blocks_in_largest_pipe = 16;  // fs.pipe-max-size
  for (int i = 0; i < blocks_in_largest_pipe; ++i) {
    const ssize_t got = read(pipe, block.data(), block.size());
    if (got > 0) {
      const auto size = static_cast<std::size_t>(got);
      const std::size_t kept = std::min(size, cap - stream.bytes.size());
      stream.bytes.append(block.data(), kept);
      stream.cut = stream.cut || kept < size;
      if (size < block.size()) return true;
    } else if (got == 0 || errno != EINTR) {
      return got < 0 && errno == EAGAIN;
    }
  }
  return true;
}

/// Sends the pipes' bytes to the outcome until the child has ended; false when the deadline came first.
bool listen_until_end(pid_t child, std::vector<pollfd>& pipes, const std::vector<std::size_t>& caps,
                      Clock::time_point end, ChildOutcome& outcome) {
  // Kernels before 5.3 and some sandboxes have no pidfd; there the end is looked for every few milliseconds.
  const Descriptor child_end(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  constexpr int look_again = 5;
  std::vector<pollfd> waits = pipes;
  waits.push_back({child_end.number(), POLLIN, 0});
  siginfo_t how = {};
  for (;;) {
    const bool ended = has_ended(child, how);
    for (std::size_t i = 0; i < caps.size(); ++i) {
      if (waits[i].fd >= 0 && !drain(waits[i].fd, caps[i], outcome.streams[i])) waits[i].fd = -1;
    }
    if (ended) return true;
    const int left = milliseconds_until(end);
    if (left == 0) return false;
    poll(waits.data(), waits.size(), child_end.valid() ? left : std::min(left, look_again));
  }
}

/// After SIGKILL the end comes at once, unless the child is stuck in the kernel.
void reap(pid_t child, ChildOutcome& outcome) {
  const auto end = Clock::now() + kill_grace;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
      return;
    }
    if ((ended < 0 && errno != EINTR) || milliseconds_until(end) == 0) return;
    poll(nullptr, 0, 1);
  }
}

}  // namespace

DefaultChildSignal::DefaultChildSignal() {
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &plain, &before_);
}

DefaultChildSignal::~DefaultChildSignal() { sigaction(SIGCHLD, &before_, nullptr); }

void settle_into_child(pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(body_threw);

  rlimit core = {};
  getrlimit(RLIMIT_CORE, &core);
  core.rlim_cur = std::min<rlim_t>(1, core.rlim_max);
  setrlimit(RLIMIT_CORE, &core);

  for (const int number : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);

  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nowhere < 0 || dup2(nowhere, standard) < 0) close(standard);
  }
}

Result<ChildOutcome> run_child(const ChildBody& body, const std::vector<std::size_t>& caps,
                               std::chrono::milliseconds deadline) {
  std::vector<Descriptor> read_ends;
  std::vector<Descriptor> write_ends;
  std::vector<int> write_numbers;
  std::vector<pollfd> pipes;
  for (std::size_t i = 0; i < caps.size(); ++i) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_error(errno, "making a pipe");
    read_ends.emplace_back(ends[0]);
    write_ends.emplace_back(ends[1]);
    write_numbers.push_back(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pipes.push_back({ends[0], POLLIN, 0});
  }

  const DefaultChildSignal statuses_are_kept;
  const auto end = Clock::now() + deadline;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return system_error(errno, "starting a child process");
  if (child == 0) be_child(parent, body, write_numbers);
  setpgid(child, child);  // on both sides, so that the group exists before either goes on
  write_ends.clear();

  ChildOutcome outcome;
  outcome.streams.resize(caps.size());
  outcome.timed_out = !listen_until_end(child, pipes, caps, end, outcome);
  kill(-child, SIGKILL);  // the group's number stays ours until the leader is reaped
  reap(child, outcome);
  return outcome;
}

void close_all_on_exec() {
  constexpr unsigned first = STDERR_FILENO + 1;
  constexpr unsigned close_on_exec = 1U << 2;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
  if (syscall(SYS_close_range, first, ~0U, close_on_exec) == 0) return;
  const long count = sysconf(_SC_OPEN_MAX);
  const int last = static_cast<int>(std::clamp<long>(count, 256, 65536));
  for (int number = static_cast<int>(first); number < last; ++number) fcntl(number, F_SETFD, FD_CLOEXEC);
}

Result<std::string> bytes_from_child(std::string_view what, std::chrono::milliseconds deadline,
                                     const std::function<std::string()>& work) {
  const auto tell = [&](const std::vector<int>& pipes) { return file_calls::write_all(pipes[0], work()) ? 0 : 1; };
  auto outcome = run_child(tell, {answer_cap}, deadline);
  if (!outcome.ok()) return outcome.error();
  const std::string name(what);
  if (outcome->timed_out) {
    return Error{ETIMEDOUT, name + ": no answer within " + std::to_string(deadline.count()) + " ms"};
  }
  if (outcome->signal != 0) {
    return Error{0, name + ": crashed with signal " + std::to_string(outcome->signal)};
  }
  if (outcome->exit_status != 0) {
    return Error{0, name + ": ended its process with status " + std::to_string(outcome->exit_status)};
  }
  if (outcome->streams[0].cut) return Error{EFBIG, name + ": the answer is longer than 64 MiB"};
  return std::move(outcome->streams[0].bytes);
}

}  // namespace sage
