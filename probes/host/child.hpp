#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/packet.hpp"

namespace sage {

/// What a child wrote into one of its pipes.
struct ChildStream {
  std::string bytes;
  bool cut = false;  ///< more came than the cap allowed; the rest was thrown away
};

/// How a child ended. A child that was killed at its deadline has `timed_out` and no meaningful status.
struct ChildOutcome {
  int exit_status = 0;
  int signal = 0;
  bool timed_out = false;
  std::vector<ChildStream> streams;
};

/// Runs in the child; gets the write end of each pipe, returns the exit status.
using ChildBody = std::function<int(const std::vector<int>& write_ends)>;

/// Forks, runs `body` in the child with one pipe per entry of `caps` (bytes kept of each), and comes back when the
/// child has ended or `deadline` has passed. The child has its own process group, /dev/null as stdin, stdout and
/// stderr, no core dump, and dies with us. Whatever is left of its group is killed. Error: no pipe or no process could
/// be made.
[[nodiscard]] Result<ChildOutcome> run_child(const ChildBody& body, const std::vector<std::size_t>& caps,
                                             std::chrono::milliseconds deadline);

/// For the first moments of a forked child of `parent`: a process group of its own, death with the parent, no core dump, signals as at
/// a program's start, /dev/null as stdin, stdout and stderr.
void settle_into_child(pid_t parent);

/// Gives SIGCHLD its default meaning while it lives: where it was inherited as ignored, the kernel forgets how children end.
class DefaultChildSignal {
 public:
  DefaultChildSignal();
  ~DefaultChildSignal();
  DefaultChildSignal(const DefaultChildSignal&) = delete;
  DefaultChildSignal& operator=(const DefaultChildSignal&) = delete;

 private:
  struct sigaction before_ = {};
};

/// Closes every descriptor above stderr at the next exec; what was inherited from our caller included.
void close_all_on_exec();

/// Long enough for any healthy filesystem, device or library, short enough to wait for.
inline constexpr std::chrono::milliseconds default_child_deadline{2000};

/// Runs `work` in a child and returns the bytes it returned. Errors name `what` and tell apart a missed deadline
/// (ETIMEDOUT), a signal, an exit of the library's own accord, and an answer above 64 MiB (EFBIG).
[[nodiscard]] Result<std::string> bytes_from_child(std::string_view what, std::chrono::milliseconds deadline,
                                                   const std::function<std::string()>& work);

/// Calls `work` in a child as if it were called here. T must be known to packet.hpp.
template <class T, class Work>
[[nodiscard]] Result<T> call_in_child(std::string_view what, std::chrono::milliseconds deadline, const Work& work) {
  const auto bytes = bytes_from_child(what, deadline, [&] { return pack(Result<T>(work())); });
  if (!bytes.ok()) return bytes.error();
  Result<T> answer = Error{};
  if (!unpack(*bytes, answer)) return Error{0, std::string(what) + ": the child process gave a garbled answer"};
  return answer;
}

}  // namespace sage
