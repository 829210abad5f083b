#include "doctor/build/smoke.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "doctor/build/compile/command.hpp"
#include "doctor/build/smoke_record.hpp"
#include "kernels/trial/emulated_targets.hpp"
#include "kernels/trial/smoke.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/proof_child/outcome.hpp"
#include "probes/proof_child/verbs.hpp"

namespace sage {
namespace {

constexpr std::chrono::minutes deadline{5};
constexpr std::size_t most_answer_bytes = 1 << 20;

SmokeRun read_answer(const std::string& file, const JobEnd& end) {
  const Result<std::string> text = file_calls::read_whole(file, Links::keep, most_answer_bytes);
  if (end.good() && text) return smoke_run_from_text(*text);
  SmokeRun run;
  run.reason = in_words(end, deadline);
  if (const std::string words = last_line(end.output); !words.empty()) run.reason += " (" + words + ")";
  return run;
}

Job child_job(std::vector<std::string> rest, const std::string& output, bool limit_memory) {
  Job job;
  job.arguments = {own_program_path(), std::string(proof_verb)};
  job.arguments.insert(job.arguments.end(), rest.begin(), rest.end());
  job.arguments.insert(job.arguments.end(), {"--output", output});
  job.deadline = deadline;
  job.limit_memory = limit_memory;
  return job;
}

std::vector<SmokeRun> run_children(const std::vector<Job>& jobs, const std::vector<std::string>& outputs, std::size_t parallel,
                                   const std::function<void()>& tick) {
  JobCallbacks callbacks;
  callbacks.tick = tick;
  const Result<JobsEnd> ends = run_jobs(jobs, parallel, OnFailure::keep_going, callbacks);
  std::vector<SmokeRun> runs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SmokeRun run;
    if (ends) run = read_answer(outputs[i], ends->ends[i]);
    else run.reason = ends.error().text;
    runs.push_back(std::move(run));
  }
  return runs;
}

/// The runs of one place as one.
void join_run(std::vector<SmokeRun>& runs, SmokeRun more) {
  const auto same = std::find_if(runs.begin(), runs.end(), [&](const SmokeRun& one) { return one.where == more.where; });
  if (same == runs.end()) {
    runs.push_back(std::move(more));
    return;
  }
  same->records.insert(same->records.end(), more.records.begin(), more.records.end());
  if (more.state != SmokeRun::State::ran && same->state == SmokeRun::State::ran) {
    same->state = more.state;
    same->reason = more.reason;
  }
}

}  // namespace

std::string wrong_numbers(const SmokeRecord& record, const std::string& where) {
  std::string text = record.kernel + " gives wrong numbers (" + where + ", " + record.problem + ")";
  if (!record.complaint.empty()) text += ": " + record.complaint;
  const char* separator = record.complaint.empty() ? ":" : ",";
  const auto figure = [&](const char* name, double value, double allowed) {
    std::array<char, 96> words{};
    std::snprintf(words.data(), words.size(), "%s %s %.4g (allowed %.4g)", separator, name, value, allowed);
    text += words.data();
    separator = ",";
  };
  figure("relative L1", record.relative_l1, record.allowed_l1);
  figure("worst row", record.worst_row, record.allowed_worst_row);
  figure("LSE", record.lse_error, record.allowed_lse);
  if (!record.first_wrong.empty()) text += "; first in " + record.first_wrong;
  return text;
}

bool SmokeRun::passed() const {
  return state == State::ran && !records.empty() &&
         std::all_of(records.begin(), records.end(), [](const SmokeRecord& one) { return one.passed; });
}

std::vector<std::string> smoke_problems(const std::vector<SmokeRun>& runs) {
  std::vector<std::string> problems;
  for (const SmokeRun& run : runs) {
    // A run that did not reach its GPU has no place yet.
    const bool emulated = run.where.starts_with("emulated");
    if (run.state != SmokeRun::State::ran) {
      problems.push_back((emulated ? run.where + ": the trial failed: " : "nothing ran on the GPU: ") + run.reason);
    }
    for (const SmokeRecord& one : run.records) {
      if (!one.passed) problems.push_back(wrong_numbers(one, run.where));
    }
  }
  return problems;
}

bool all_passed(const std::vector<SmokeRun>& runs) {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const SmokeRun& run) { return run.passed(); });
}

std::vector<ManifestAccuracy> accuracy_rows(const std::vector<SmokeRun>& runs) {
  std::vector<ManifestAccuracy> rows;
  for (const SmokeRun& run : runs) {
    for (const SmokeRecord& one : run.records) {
      rows.push_back({one.kernel, run.where, one.problem, one.relative_l1, one.rmse, one.worst_row, one.lse_error, one.passed});
    }
  }
  return rows;
}

std::vector<SmokeRun> smoke_emulated(const std::vector<std::string>& targets, std::size_t parallel, const std::string& folder,
                                     const std::function<void()>& tick) {
  std::vector<const trial::Device*> families;
  std::vector<Job> jobs;
  std::vector<std::string> outputs;
  std::vector<std::string> places;
  for (const std::string& target : targets) {
    const trial::Device* device = trial::emulated_target_for(target);
    if (device == nullptr || std::find(families.begin(), families.end(), device) != families.end()) continue;
    families.push_back(device);
    for (const device::Tile* tile : trial::tiles_to_try(*device)) {
      outputs.push_back(folder + "/emulated-" + device->name + "-" + tile->kernel + ".json");
      places.push_back("emulated " + device->name);
      jobs.push_back(child_job({"smoke-emulated", "--target", target, "--kernel", tile->kernel}, outputs.back(), true));
    }
  }
  std::vector<SmokeRun> answers = run_children(jobs, outputs, parallel, tick);
  std::vector<SmokeRun> runs;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i].where = places[i];
    join_run(runs, std::move(answers[i]));
  }
  return runs;
}

SmokeRun smoke_on_gpu(const std::string& library, const std::string& kernels, const std::vector<std::string>& runtimes,
                      const std::string& folder, const std::function<void()>& tick) {
  SmokeRun last;
  last.state = SmokeRun::State::no_gpu;
  last.reason = "there is no driver library to reach it with";
  for (const std::string& runtime : runtimes) {
    const std::string output = folder + "/gpu.json";
    const Job job = child_job({"smoke-gpu", "--library", library, "--kernels", kernels, "--runtime", runtime}, output, false);
    last = run_children({job}, {output}, 1, tick).front();
    if (last.state == SmokeRun::State::ran) return last;
    last.runtime = runtime;
  }
  return last;
}

}  // namespace sage
