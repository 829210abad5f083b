#include "doctor/build/compile/jobs.hpp"

// Compilers start compilers (hipcc, clang, lld), hang, flood their output and crash, and a build runs several of them
// while somebody may press Ctrl-C or kill it. Each job has a warden of its own (probes/proof_child/warden.cpp): a fork
// that owns everything the job starts, kills all of it at the deadline, when told to end and when this process dies, and
// tells through a pipe of its own how the job ended. So what is left to do here is to wait, in one poll(2), for output,
// for ends, for signals and for the next tick.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "doctor/build/compile/kept_output.hpp"
#include "probes/base/errno_name.hpp"
#include "probes/host/child.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/proof_child/surroundings.hpp"
#include "probes/proof_child/warden.hpp"

namespace sage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds tick_interval{200};
constexpr std::chrono::seconds patience_with_wardens{10};
constexpr int exec_failed = 127;

/// What a warden tells before it ends, or its worker when there is no such program.
struct Report {
  int exec_error = 0;  ///< errno; 0: this is the end of the job
  bool has_status = false;
  int status = 0;      ///< as of waitpid(2)
  bool timed_out = false;
  std::chrono::milliseconds processor_time{};
  std::uint64_t peak_memory_bytes = 0;
};

void send(int pipe, const Report& report) {
  // Less than PIPE_BUF: whole or not at all.
  static_cast<void>(!write(pipe, &report, sizeof report));
}

int become(const Job& job, int report) {
  std::optional<MemoryLimit> limit;
  if (job.limit_memory) limit.emplace();
  for (const auto& [name, value] : job.environment) {
    if (value) setenv(name.c_str(), value->c_str(), 1);
    if (!value) unsetenv(name.c_str());
  }
  std::vector<char*> texts;
  for (const std::string& argument : job.arguments) texts.push_back(const_cast<char*>(argument.c_str()));
  texts.push_back(nullptr);
  close_all_on_exec();
  execvp(texts[0], texts.data());
  Report failure;
  failure.exec_error = errno;
  send(report, failure);
  return exec_failed;
}

[[noreturn]] void be_warden(const Job& job, int output, int report, pid_t parent) {
  settle_into_child(parent);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  const GuardEnd end = guard_closely(job.deadline, [&] { return become(job, report); });
  if (!end.problem.empty()) static_cast<void>(!write(STDERR_FILENO, end.problem.data(), end.problem.size()));
  Report told;
  told.has_status = end.status.has_value();
  told.status = end.status.value_or(0);
  told.timed_out = end.timed_out;
  told.processor_time = end.processor_time;
  told.peak_memory_bytes = end.peak_memory_bytes;
  if (!end.problem.empty()) told.exec_error = ECHILD;
  send(report, told);
  _exit(0);
}

/// The signals that end a build, held back while it lives and read from a descriptor. Those that are ignored (nohup) stay ignored.
class EndSignals {
 public:
  EndSignals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now = {};
      sigaction(number, nullptr, &now);
      if (now.sa_handler != SIG_IGN) sigaddset(&watched, number);
    }
    sigprocmask(SIG_BLOCK, &watched, &before_);
    descriptor_ = Descriptor(signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  ~EndSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

  /// The number of a signal that came; 0: none.
  [[nodiscard]] int take() const {
    signalfd_siginfo caught = {};
    return read(descriptor_.number(), &caught, sizeof caught) == sizeof caught ? static_cast<int>(caught.ssi_signo) : 0;
  }

 private:
  sigset_t before_ = {};
  Descriptor descriptor_{-1};
};

struct Running {
  std::size_t index = 0;
  pid_t warden = 0;
  Descriptor output{-1};
  Descriptor report{-1};
  KeptOutput kept{kept_output_bytes};
  std::optional<Report> told;
  Clock::time_point start;
  Clock::time_point given_up;  ///< when the warden itself is killed
  bool ended = false;
};

/// Takes what the pipe has now, without running after one that is filled as fast as it is emptied. False at its end.
bool drain(int pipe, KeptOutput& kept) {
  std::array<char, 64 * 1024> block;
  constexpr int rounds = 16;
  for (int i = 0; i < rounds; ++i) {
    const ssize_t got = read(pipe, block.data(), block.size());
    if (got > 0) {
      kept.add({block.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || errno != EINTR) {
      return got < 0 && errno == EAGAIN;
    }
  }
  return true;
}

class Runner {
 public:
  Runner(const std::vector<Job>& jobs, std::size_t parallel, OnFailure on_failure, const JobCallbacks& callbacks)
      : jobs_(jobs), parallel_(std::max<std::size_t>(parallel, 1)), on_failure_(on_failure), callbacks_(callbacks) {
    end_.ends.resize(jobs.size());
  }

  Result<JobsEnd> run() {
    if (signals_.descriptor() < 0) return system_error(errno, "watching for signals");
    while (true) {
      while (!stopping_ && running_.size() < parallel_ && next_ < jobs_.size()) {
        if (auto error = start(next_)) {
          if (running_.empty()) return *error;
          break;  // no process to be had now; there will be when one of ours has ended
        }
        ++next_;
      }
      if (running_.empty()) return std::move(end_);
      wait();
      collect();
    }
  }

 private:
  std::optional<Error> start(std::size_t index) {
    std::array<int, 2> output{};
    std::array<int, 2> report{};
    if (pipe2(output.data(), O_CLOEXEC) != 0) return system_error(errno, "making a pipe");
    auto job = std::make_unique<Running>();
    job->output = Descriptor(output[0]);
    const Descriptor output_write(output[1]);
    if (pipe2(report.data(), O_CLOEXEC) != 0) return system_error(errno, "making a pipe");
    job->report = Descriptor(report[0]);
    const Descriptor report_write(report[1]);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    fcntl(report[0], F_SETFL, O_NONBLOCK);
    const pid_t parent = getpid();
    job->index = index;
    job->start = Clock::now();
    job->given_up = job->start + jobs_[index].deadline + patience_with_wardens;
    job->warden = fork();
    if (job->warden < 0) return system_error(errno, "starting a child process");
    if (job->warden == 0) be_warden(jobs_[index], output[1], report[1], parent);
    setpgid(job->warden, job->warden);
    running_.push_back(std::move(job));
    if (callbacks_.started) callbacks_.started(index);
    return std::nullopt;
  }

  void wait() {
    std::vector<pollfd> waits = {{signals_.descriptor(), POLLIN, 0}};
    for (const auto& job : running_) {
      waits.push_back({job->output.number(), POLLIN, 0});
      waits.push_back({job->report.number(), POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_tick_ - Clock::now());
    poll(waits.data(), waits.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, tick_interval.count())));
    if (Clock::now() >= next_tick_) {
      next_tick_ = Clock::now() + tick_interval;
      if (callbacks_.tick) callbacks_.tick();
    }
  }

  void collect() {
    if (const int caught = signals_.take(); caught != 0 && end_.interrupted_by == 0) {
      end_.interrupted_by = caught;
      stop();
    }
    for (const auto& job : running_) {
      if (job->output.valid() && !drain(job->output.number(), job->kept)) job->output = Descriptor(-1);
      listen(*job);
      if (!job->ended && Clock::now() > job->given_up) kill(-job->warden, SIGKILL);
      if (job->ended) finish(*job);
    }
    std::erase_if(running_, [](const auto& job) { return job->ended; });
  }

  /// The end of the report pipe is the end of the warden.
  static void listen(Running& job) {
    for (;;) {
      Report report;
      const ssize_t got = read(job.report.number(), &report, sizeof report);
      if (got == sizeof report) {
        if (!job.told || job.told->exec_error == 0) job.told = report;
        continue;
      }
      job.ended = got == 0;
      return;
    }
  }

  void finish(Running& job) {
    int status = 0;
    while (waitpid(job.warden, &status, 0) < 0 && errno == EINTR) {
    }
    if (job.output.valid()) drain(job.output.number(), job.kept);
    JobEnd& end = end_.ends[job.index];
    end.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - job.start);
    end.output = job.kept.text();
    end.output_bytes = job.kept.total();
    settle(job, status, end);
    if (callbacks_.ended) callbacks_.ended(job.index, end);
    if (!end.good() && on_failure_ == OnFailure::stop) stop();
  }

  void settle(const Running& job, int warden_status, JobEnd& end) const {
    const Report told = job.told.value_or(Report{});
    end.processor_time = told.processor_time;
    end.peak_memory_bytes = told.peak_memory_bytes;
    if (told.exec_error != 0) {
      end.ending = JobEnding::not_started;
      if (told.exec_error != ECHILD) end.output = system_error(told.exec_error, jobs_[job.index].arguments[0]).text;
    } else if (told.timed_out) {
      end.ending = JobEnding::timed_out;
    } else if (told.has_status && WIFEXITED(told.status)) {
      end.ending = JobEnding::exited;
      end.exit_status = WEXITSTATUS(told.status);
    } else if (told.has_status && WIFSIGNALED(told.status)) {
      end.ending = JobEnding::killed;
      end.signal = WTERMSIG(told.status);
    } else if (stopping_) {
      end.ending = JobEnding::stopped;
    } else {
      end.ending = JobEnding::killed;  // the warden was, and took the job along
      end.signal = WIFSIGNALED(warden_status) ? WTERMSIG(warden_status) : SIGTERM;
    }
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    for (const auto& job : running_) {
      if (!job->ended) kill(job->warden, SIGTERM);
      job->given_up = Clock::now() + patience_with_wardens;
    }
  }

  const std::vector<Job>& jobs_;
  std::size_t parallel_;
  OnFailure on_failure_;
  const JobCallbacks& callbacks_;
  DefaultChildSignal statuses_are_kept_;
  EndSignals signals_;
  JobsEnd end_;
  std::vector<std::unique_ptr<Running>> running_;
  std::size_t next_ = 0;
  bool stopping_ = false;
  Clock::time_point next_tick_ = Clock::now() + tick_interval;
};

}  // namespace

Result<JobsEnd> run_jobs(const std::vector<Job>& jobs, std::size_t parallel, OnFailure on_failure,
                         const JobCallbacks& callbacks) {
  return Runner(jobs, parallel, on_failure, callbacks).run();
}

std::string in_words(const JobEnd& end, std::chrono::minutes deadline) {
  switch (end.ending) {
    case JobEnding::exited: return "its process ended with status " + std::to_string(end.exit_status);
    case JobEnding::killed: return "its process was killed by signal " + std::to_string(end.signal);
    case JobEnding::timed_out: return "it did not end within " + std::to_string(deadline.count()) + " minutes";
    case JobEnding::stopped: return "it was interrupted";
    case JobEnding::not_started: break;
  }
  return "its process could not be started: " + end.output;
}

}  // namespace sage
