// The process of a smoke test: it may load somebody else's driver library, and it may be killed.

#include <cstdio>
#include <map>
#include <optional>

#include "doctor/build/install/files.hpp"
#include "doctor/build/smoke.hpp"
#include "doctor/build/smoke_record.hpp"
#include "kernels/trial/emulated_targets.hpp"
#include "kernels/trial/gpu.hpp"
#include "kernels/trial/smoke.hpp"

namespace sage {
namespace {

using Options = std::map<std::string, std::string>;

constexpr int bad_usage = 2;

SmokeRecord record_of(const trial::SmokeResult& result) {
  SmokeRecord record;
  record.kernel = result.kernel;
  record.problem = result.problem;
  record.relative_l1 = result.errors.relative_l1;
  record.rmse = result.errors.rmse;
  record.worst_row = result.errors.worst_row;
  record.lse_error = result.errors.lse;
  record.allowed_l1 = result.gate.relative_l1;
  record.allowed_worst_row = result.gate.worst_row;
  record.allowed_lse = result.gate.lse;
  record.passed = result.passed;
  record.complaint = result.complaint;
  record.first_wrong = result.first_wrong;
  return record;
}

void try_tiles(const trial::Device& device, const std::string& only, SmokeRun& run) {
  for (const device::Tile* tile : trial::tiles_to_try(device)) {
    if (!only.empty() && only != tile->kernel) continue;
    for (const trial::SmokeResult& result : trial::smoke_test(device, *tile)) run.records.push_back(record_of(result));
  }
  run.state = SmokeRun::State::ran;
}

SmokeRun emulated(const Options& options) {
  SmokeRun run;
  const trial::Device* device = trial::emulated_target_for(options.at("--target"));
  if (device == nullptr) {
    run.reason = "no kernels are emulated for " + options.at("--target");
    return run;
  }
  run.where = "emulated " + device->name;
  try_tiles(*device, options.at("--kernel"), run);
  return run;
}

SmokeRun on_gpu(const Options& options) {
  SmokeRun run;
  try {
    const trial::AttentionLibrary library = trial::load_attention_library(options.at("--library"));
    const trial::Gpu gpu(library, options.at("--kernels"), options.at("--runtime"));
    run.where = "gpu " + gpu.target();
    run.runtime = gpu.runtime_path();
    try_tiles(trial::device_of(gpu), "", run);
  } catch (const trial::NoGpu& none) {
    run.state = SmokeRun::State::no_gpu;
    run.reason = none.what();
  } catch (const std::runtime_error& problem) {
    run.state = SmokeRun::State::failed;
    run.reason = problem.what();
  }
  return run;
}

struct Verb {
  std::vector<const char*> needs;
  SmokeRun (*run)(const Options&);
};

}  // namespace

std::optional<int> run_smoke_child(const std::vector<std::string>& arguments) {
  static const std::map<std::string, Verb> verbs = {
      {"smoke-emulated", {{"--target", "--kernel"}, &emulated}},
      {"smoke-gpu", {{"--library", "--kernels", "--runtime"}, &on_gpu}},
  };
  const auto verb = arguments.empty() ? verbs.end() : verbs.find(arguments[0]);
  if (verb == verbs.end()) return std::nullopt;
  Options options;
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) options[arguments[i]] = arguments[i + 1];
  bool complete = options.count("--output") == 1;
  for (const char* name : verb->second.needs) complete = complete && options.count(name) == 1;
  if (!complete) {
    std::fputs("'sage-doctor internal' is how 'sage-doctor build' starts itself; it is not for use by hand\n", stderr);
    return bad_usage;
  }
  // The next runtime that is tried answers in the same file.
  return replace_file(options.at("--output"), smoke_run_text(verb->second.run(options))) ? 1 : 0;
}

}  // namespace sage
