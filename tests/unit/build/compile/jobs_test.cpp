#include "doctor/build/compile/jobs.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "probes/base/text.hpp"
#include "tests/unit/proof_child/in_folder.hpp"

namespace sage {
namespace {

constexpr std::chrono::seconds long_enough{60};
constexpr std::chrono::milliseconds too_short{400};

Job shell(const std::string& script, std::chrono::milliseconds deadline = long_enough) {
  return {{"/bin/sh", "-c", script}, deadline, true, {}};
}

JobsEnd run(const std::vector<Job>& jobs, std::size_t parallel = 2, OnFailure on_failure = OnFailure::keep_going,
            const JobCallbacks& callbacks = {}) {
  auto end = run_jobs(jobs, parallel, on_failure, callbacks);
  REQUIRE(end.ok());
  REQUIRE(end->ends.size() == jobs.size());
  return *std::move(end);
}

JobEnd run_one(const Job& job) { return run({job}).ends[0]; }

/// Whether the process whose number a job wrote into a file is there and no zombie.
bool lives(const std::string& pid_file) {
  std::ifstream file(pid_file);
  pid_t pid = 0;
  file >> pid;
  REQUIRE(pid > 0);
  return kill(pid, 0) == 0;
}

}  // namespace

TEST_CASE("a job's end is told in full") {
  const JobEnd good = run_one(shell("echo out; echo err >&2"));
  CHECK(good.good());
  CHECK(good.output == "out\nerr\n");
  CHECK(good.output_bytes == 8);
  CHECK(good.peak_memory_bytes > 0);

  const JobEnd bad = run_one(shell("exit 3"));
  CHECK(bad.ending == JobEnding::exited);
  CHECK(bad.exit_status == 3);

  const JobEnd crashed = run_one(shell("kill -SEGV $$"));
  CHECK(crashed.ending == JobEnding::killed);
  CHECK(crashed.signal == SIGSEGV);

  const JobEnd absent = run_one({{"/no/such/compiler", "-c"}, long_enough, true, {}});
  CHECK(absent.ending == JobEnding::not_started);
  CHECK(absent.output == "/no/such/compiler: no such file or directory");
}

TEST_CASE("a job has no input, a folder of its own and no descriptors of ours") {
  CHECK(run_one(shell("read line || echo closed")).output == "closed\n");
  const JobEnd folder = run_one(shell("test \"$PWD\" = \"$TMPDIR\" && ls -A | wc -l"));
  CHECK(trim(folder.output) == "0");
  CHECK(run_one(shell("ls /proc/self/fd | wc -l")).output == "4\n");  // three and the folder that ls reads
}

TEST_CASE("variables are set and unset for a job alone") {
  Job job = shell("echo ${HOME-none} $SAGE_TEST_VARIABLE");
  job.environment = {{"HOME", std::nullopt}, {"SAGE_TEST_VARIABLE", "here"}};
  CHECK(run_one(job).output == "none here\n");
  CHECK(getenv("SAGE_TEST_VARIABLE") == nullptr);
}

TEST_CASE("a job that hangs is killed at its deadline with everything that it started") {
  const test::InFolder here;
  const std::string pid_file = here.folder().path("pid");
  const JobEnd end = run_one(shell("setsid sh -c 'echo $$ > " + pid_file + "; exec sleep 1000' & sleep 1000", too_short));
  CHECK(end.ending == JobEnding::timed_out);
  CHECK_FALSE(lives(pid_file));
}

TEST_CASE("what a job leaves running does not outlive it") {
  const test::InFolder here;
  const std::string pid_file = here.folder().path("pid");
  const JobEnd end = run_one(shell("setsid sh -c 'exec sleep 1000' & echo $! > " + pid_file));
  CHECK(end.good());
  CHECK_FALSE(lives(pid_file));
}

TEST_CASE("of a flood of output the ends are kept") {
  const JobEnd end = run_one(shell("echo first; yes x | head -c 100000000; echo last"));
  CHECK(end.good());
  CHECK(end.output_bytes == 100'000'011);
  CHECK(end.output.size() < 3 * kept_output_bytes);
  CHECK(end.output.starts_with("first\nx\n"));
  CHECK(end.output.ends_with("last\n"));
  CHECK(contains(end.output, " bytes left out ...]\n"));
}

TEST_CASE("no more jobs run at a time than allowed, in the order of the list") {
  std::vector<std::size_t> started;
  std::size_t running = 0;
  std::size_t most = 0;
  JobCallbacks callbacks;
  callbacks.started = [&](std::size_t job) {
    started.push_back(job);
    most = std::max(most, ++running);
  };
  callbacks.ended = [&](std::size_t, const JobEnd&) { --running; };
  const JobsEnd end = run(std::vector<Job>(7, shell("sleep 0.02")), 3, OnFailure::keep_going, callbacks);
  for (const JobEnd& job : end.ends) CHECK(job.good());
  CHECK(most == 3);
  CHECK(started == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a failure ends the others unless they are to be kept going") {
  const std::vector<Job> jobs = {shell("sleep 1000"), shell("exit 1"), shell("true")};
  const JobsEnd stopped = run(jobs, 2, OnFailure::stop);
  CHECK(stopped.ends[0].ending == JobEnding::stopped);
  CHECK(stopped.ends[1].exit_status == 1);
  CHECK(stopped.ends[2].ending == JobEnding::stopped);
  CHECK(stopped.interrupted_by == 0);

  const JobsEnd kept = run({shell("exit 1"), shell("true")}, 1, OnFailure::keep_going);
  CHECK(kept.ends[0].exit_status == 1);
  CHECK(kept.ends[1].good());
}

TEST_CASE("a signal in the meantime ends all jobs and nothing else") {
  const test::InFolder here;
  const std::string pid_file = here.folder().path("pid");
  JobCallbacks callbacks;
  callbacks.tick = [] { kill(getpid(), SIGTERM); };
  const JobsEnd end = run({shell("echo $$ > " + pid_file + "; sleep 1000"), shell("true")}, 1, OnFailure::keep_going,
                          callbacks);
  CHECK(end.interrupted_by == SIGTERM);
  CHECK(end.ends[0].ending == JobEnding::stopped);
  CHECK(end.ends[1].ending == JobEnding::stopped);
  CHECK_FALSE(lives(pid_file));
}

TEST_CASE("when this process is killed its jobs die with it") {
  const test::InFolder here;
  const std::string pid_file = here.folder().path("pid");
  const pid_t builder = fork();
  if (builder == 0) {
    const auto end = run_jobs({shell("setsid sh -c 'echo $$ > " + pid_file + ".new; mv " + pid_file + ".new " + pid_file +
                                     "; exec sleep 1000'")},
                              1, OnFailure::stop, {});
    _exit(end.ok() ? 0 : 1);
  }
  const auto patience = [](const std::function<bool()>& done) {
    for (int i = 0; i < 3000 && !done(); ++i) usleep(10'000);
    return done();
  };
  CHECK(patience([&] { return std::filesystem::exists(pid_file); }));
  kill(builder, SIGKILL);
  CHECK(waitpid(builder, nullptr, 0) == builder);
  CHECK(patience([&] { return !lives(pid_file); }));
}

TEST_CASE("ticks come while a job is silent") {
  int ticks = 0;
  JobCallbacks callbacks;
  callbacks.tick = [&] { ++ticks; };
  static_cast<void>(run({shell("sleep 1")}, 1, OnFailure::stop, callbacks));
  CHECK(ticks >= 2);
}

}  // namespace sage
