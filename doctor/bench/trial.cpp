#include "doctor/bench/trial.hpp"

#include <cerrno>

#include "doctor/build/compile/command.hpp"
#include "probes/facts/json_walk.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/proof_child/outcome.hpp"
#include "probes/proof_child/verbs.hpp"

namespace sage {
namespace {

constexpr std::chrono::minutes deadline{10};
constexpr std::size_t most_answer_bytes = 1 << 20;

BenchRun read_answer(const std::string& file, const JobEnd& end) {
  const Result<std::string> text = file_calls::read_whole(file, Links::keep, most_answer_bytes);
  if (end.good() && text) return bench_run_from_text(*text);
  BenchRun run;
  run.reason = in_words(end, deadline);
  if (const std::string words = last_line(end.output); !words.empty()) run.reason += " (" + words + ")";
  return run;
}

Job job_of(const BenchRequest& request, const std::string& output) {
  Job job;
  job.arguments = {own_program_path(),
                   std::string(proof_verb),
                   "bench-gpu",
                   "--library",
                   request.library,
                   "--kernels",
                   request.kernels,
                   "--runtime",
                   request.runtime,
                   "--runs",
                   std::to_string(request.runs),
                   "--parts",
                   request.kernel_only ? "kernel" : "all",
                   "--output",
                   output};
  for (const BenchCase& one : request.cases) job.arguments.insert(job.arguments.end(), {"--case", case_text(one)});
  job.deadline = deadline;
  job.limit_memory = false;
  return job;
}

}  // namespace

std::string bench_run_text(const BenchRun& run) {
  using json_walk::Json;
  return json_walk::to_json_value(run).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

BenchRun bench_run_from_text(std::string_view text) {
  BenchRun failed;
  failed.reason = "the process of the benchmark gave a garbled answer";
  const json_walk::Json json = json_walk::Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("state")) return failed;
  BenchRun run;
  if (json_walk::read_value(json, "", run)) return failed;
  return run;
}

BenchRuns run_bench(const std::vector<BenchRequest>& requests, const std::string& folder,
                    const std::function<void(std::size_t)>& ended, const std::function<void()>& tick) {
  std::vector<Job> jobs;
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    outputs.push_back(folder + "/bench-" + std::to_string(i) + ".json");
    jobs.push_back(job_of(requests[i], outputs.back()));
  }
  JobCallbacks callbacks;
  callbacks.tick = tick;
  callbacks.ended = [&](std::size_t job, const JobEnd&) {
    if (ended) ended(job);
  };
  const Result<JobsEnd> ends = run_jobs(jobs, 1, OnFailure::keep_going, callbacks);
  BenchRuns all;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    BenchRun run;
    if (ends)
      run = read_answer(outputs[i], ends->ends[i]);
    else
      run.reason = ends.error().text;
    all.runs.push_back(std::move(run));
  }
  if (ends) all.interrupted_by = ends->interrupted_by;
  return all;
}

Result<BenchRun> find_gpu(BenchRequest& request, const std::vector<std::string>& runtimes, const std::string& folder) {
  std::string reason = "there is no driver library to reach it with";
  BenchRequest open = request;
  open.cases.clear();
  for (const std::string& runtime : runtimes) {
    open.runtime = request.runtime = runtime;
    const BenchRuns tried = run_bench({open}, folder, {}, {});
    if (tried.interrupted_by != 0) return Error{EINTR, "interrupted: nothing was measured"};
    if (tried.runs.front().state == BenchState::ran) return tried.runs.front();
    reason = tried.runs.front().reason;
  }
  return Error{0, std::string(bench_no_gpu) + reason};
}

}  // namespace sage
