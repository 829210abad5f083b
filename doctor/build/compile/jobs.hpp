#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/base/result.hpp"

namespace sage {

/// Variables to set, or to unset (nullopt).
using JobEnvironment = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// A program to run. It gets /dev/null as stdin, a private folder as working folder and TMPDIR, and the surroundings of
/// prepare_surroundings(): paths in `arguments` have to be absolute.
struct Job {
  std::vector<std::string> arguments;  ///< the program's path first; no shell
  std::chrono::milliseconds deadline{};
  bool limit_memory = true;  ///< 16 GiB of addresses; not for what loads ROCm's libraries (MemoryLimit)
  JobEnvironment environment;
};

enum class JobEnding {
  exited,       ///< by itself, with exit_status
  killed,       ///< by a signal that we did not send: a crash, or the kernel out of memory
  timed_out,    ///< killed by us at its deadline
  stopped,      ///< killed by us, or not even started, because of an interrupt or another job's failure
  not_started,  ///< could not be; `output` says why
};

struct JobEnd {
  JobEnding ending = JobEnding::stopped;
  int exit_status = 0;
  int signal = 0;
  std::string output;              ///< stdout and stderr; head and tail with a line between that says what was cut
  std::uint64_t output_bytes = 0;  ///< all that it wrote
  std::chrono::milliseconds duration{};
  std::chrono::milliseconds processor_time{};  ///< of all its processes
  std::uint64_t peak_memory_bytes = 0;  ///< of the largest of its processes

  [[nodiscard]] bool good() const { return ending == JobEnding::exited && exit_status == 0; }
};

/// How a process of ours ended that should have given an answer: "it was interrupted". `deadline` is what it was given.
[[nodiscard]] std::string in_words(const JobEnd& end, std::chrono::minutes deadline);

/// Any of them may be empty. Indices are those of the list of jobs.
struct JobCallbacks {
  std::function<void(std::size_t)> started;
  std::function<void(std::size_t, const JobEnd&)> ended;  ///< not called for jobs that never started
  std::function<void()> tick;                             ///< five times a second
};

enum class OnFailure { stop, keep_going };

struct JobsEnd {
  std::vector<JobEnd> ends;  ///< one a job, in the order of the list
  int interrupted_by = 0;    ///< SIGINT, SIGTERM or SIGHUP; 0: not interrupted
};

/// Bytes kept of a job's output, at each of its ends.
inline constexpr std::size_t kept_output_bytes = 128 * 1024;

/// Runs the jobs, at most `parallel` at a time, in the order of the list. Whatever a job starts is killed with it, also
/// what left its process group, and also when this process is killed. A failed job ends all others unless `keep_going`. A SIGINT,
/// SIGTERM or SIGHUP in the meantime does the same and is taken from the process: the caller decides what follows. The process must have one
/// thread. Error: no pipes, no signals could be had.
[[nodiscard]] Result<JobsEnd> run_jobs(const std::vector<Job>& jobs, std::size_t parallel, OnFailure on_failure,
                                       const JobCallbacks& callbacks);

}  // namespace sage
