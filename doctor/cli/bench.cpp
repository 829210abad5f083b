#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "doctor/bench/measure.hpp"
#include "doctor/bench/model_rows.hpp"
#include "doctor/bench/plot.hpp"
#include "doctor/bench/result_json.hpp"
#include "doctor/bench/result_text.hpp"
#include "doctor/bench/tune.hpp"
#include "doctor/build/install/manifest.hpp"
#include "doctor/build/plan.hpp"
#include "doctor/checks/build_jobs.hpp"
#include "doctor/cli/build_session.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/file_output.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/progress.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/cli/work_folder.hpp"
#include "doctor/report/wrap.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/host/private_folder.hpp"

namespace sage {
namespace {

constexpr const char* tool = "sage-doctor " SAGE_VERSION;
/// As a shell's 128 + SIGINT.
constexpr int interrupted_status = 130;
constexpr const char* tuned_name = "bench-tune.json";

int fail(const std::string& text, int status) {
  spdlog::error("{}", printable(text));
  return status;
}

std::string bar_of(std::size_t done, std::size_t all) {
  constexpr std::size_t cells = 20;
  const std::size_t full = all == 0 ? 0 : cells * done / all;
  return "[" + std::string(full, '#') + std::string(cells - full, ' ') + "] " + std::to_string(done) + "/" +
         std::to_string(all) + "  ";
}

/// One line that the next one replaces; with `verbose` a line for each step.
BenchProgress progress_on(Progress& line, bool verbose) {
  return [&line, verbose, last = std::string()](const std::string& what, std::size_t done, std::size_t all) mutable {
    const std::string text = all == 0 ? what : bar_of(done, all) + what;
    if (text == last) return;
    last = text;
    if (verbose)
      spdlog::info("{}", text);
    else
      line.tell(text);
  };
}

int nothing_here(const std::string& reason) {
  spdlog::error("nothing can be measured here: {}", printable(reason));
  spdlog::error("  sage-doctor bench --model --target gfx1201          prints what a model of the instructions gives");
  return 1;
}

Result<BenchResult> read_result(const std::string& file) {
  const Result<std::string> text = file_calls::read_whole(file, Links::follow, most_bench_bytes);
  if (!text) return Error{text.error().number, "cannot read " + file + ": " + text.error().text};
  Result<BenchResult> result = bench_from_text(*text);
  if (!result) return Error{0, file + ": " + result.error().text};
  return result;
}

/// Writes the plots and prints the rest, which took minutes perhaps, also where a plot can't be written. `status`: of
/// the measurement.
int show(const BenchResult& result, const BenchOptions& options, const Redaction& redaction, int status) {
  for (const std::string& file : options.plots) {
    const bool html = file.ends_with(".html");
    const std::string picture = html ? bench_html(result) : bench_svg(result);
    Redaction names = redaction;
    names.learn(picture);
    if (const auto problem = write_file(file, names.apply(picture))) status = fail(problem->text, exit_usage);
  }
  if (options.json) return write_product(bench_json(result, redaction), status);
  return write_product(bench_text(result, output_width()), status);
}

int model(const BenchOptions& options, const BuildSession& opened, const Facts& facts) {
  std::vector<std::string> targets =
      options.machine.target.empty() ? std::vector<std::string>{} : std::vector<std::string>{options.machine.target};
  if (targets.empty()) targets = make_build_plan(facts, opened.session.tables, {}).plan.gpus;
  if (targets.empty()) return fail("there is no AMD GPU here: name a target, such as --target gfx1201", exit_usage);
  Result<BenchResult> result = model_result(targets.front(), facts);
  if (!result) return fail(result.error().text, 1);
  result->tool = tool;
  result->time = utc_time(opened.session.host->now());
  return show(*result, options, options.redact ? make_redaction(*opened.session.host) : Redaction(), 0);
}

/// What an installation is, where it can be measured.
struct Installed {
  std::string folder;
  Manifest manifest;
};

Result<Installed> find_installed(const std::string& prefix) {
  Installed found{prefix + "/current", {}};
  Result<Manifest> manifest = read_manifest(found.folder);
  if (!manifest) return Error{0, manifest.error().text + "; no kernels are installed there: sage-doctor build"};
  found.manifest = std::move(manifest).value();
  const std::vector<std::string> altered = altered_files(found.folder, found.manifest);
  if (!altered.empty())
    return Error{0, "the installation in " + found.folder + " is damaged (" + altered.front() + "): sage-doctor build"};
  return found;
}

std::vector<std::string> targets_of(const Manifest& manifest) {
  std::vector<std::string> targets;
  for (const ManifestTarget& target : manifest.targets) targets.push_back(target.target);
  return targets;
}

Result<BenchResult> measure_or_tune(const BenchOptions& options, const BuildSession& opened, const Facts& facts,
                                    const Installed& installed, const BuildPlan& plan, const std::string& work) {
  const Host& host = *opened.session.host;
  BenchPlace place{installed.folder + "/" + installed.manifest.library.file, installed.folder + "/kernels",
                   plan.runtimes, work};
  if (!options.runtime.empty()) place.runtimes = {options.runtime};
  Progress line(options.verbose);
  const BenchProgress progress = progress_on(line, options.verbose);
  if (!options.tune) return measure(place, options.wish, facts, progress);
  TuneSettings settings;
  settings.prefix = opened.prefix;
  settings.time = utc_time(host.now());
  settings.tool = tool;
  settings.parallel = fitting_build_jobs(facts.platform, memory_per_kernel_job).value_or(1);
  settings.wish = options.wish;
  return tune(place, settings, installed.manifest, plan, facts, host, opened.session.tables, progress);
}

}  // namespace

int run_bench(const BenchOptions& options) {
  if (!options.from.empty()) {
    const Result<BenchResult> result = read_result(options.from);
    if (!result) return fail(result.error().text, exit_usage);
    return show(*result, options, Redaction(), result->has_problems() ? 1 : 0);
  }
  const Result<BuildSession> opened = open_build_session(options.machine, options.prefix);
  if (!opened) return fail(opened.error().text, exit_usage);
  const Session& session = opened->session;
  const Facts facts = collect(session, *session.host, false);
  if (options.model) return model(options, *opened, facts);

  const bool any_gpu =
      !options.runtime.empty() || has_nvidia(facts) || !make_build_plan(facts, session.tables, {}).plan.gpus.empty();
  if (!any_gpu) return nothing_here("there is no GPU that has kernels");
  const Result<Installed> installed = find_installed(opened->prefix);
  if (!installed) return fail(installed.error().text, 1);
  const BuildPlanning planning =
      make_build_plan(facts, session.tables, {targets_of(installed->manifest), options.toolchain});
  for (const NoPlan& problem : planning.problems) {
    if (problem.status == exit_usage) return fail(problem.reason, exit_usage);
  }
  if (!planning.plan.gpu_expected && options.runtime.empty()) {
    return nothing_here("the installed kernels are for no GPU of this machine");
  }
  Result<std::string> private_folder = make_private_folder();
  if (!private_folder) return fail(private_folder.error().text, exit_usage);
  const WorkFolder work(std::move(private_folder).value());
  Result<BenchResult> result = measure_or_tune(options, *opened, facts, *installed, planning.plan, work.path());
  if (!result) {
    const std::string& text = result.error().text;
    if (result.error().number == EINTR) return fail(text, interrupted_status);
    return text.starts_with(bench_no_gpu) ? nothing_here(text.substr(bench_no_gpu.size())) : fail(text, 1);
  }
  result->tool = tool;
  result->time = utc_time(session.host->now());
  const Redaction redaction = options.redact ? make_redaction(*session.host) : Redaction();
  if (options.tune) {
    const std::string file = opened->prefix + "/" + tuned_name;
    if (const auto problem = write_file(file, bench_json(*result, make_redaction(*session.host))))
      spdlog::warn("{}", printable(problem->text));
    else
      result->notes.push_back("to send: " + file + ", redacted");
  }
  const auto& notes = result->notes;
  const bool interrupted = std::find(notes.begin(), notes.end(), bench_interrupted) != notes.end();
  return show(*result, options, redaction, interrupted ? interrupted_status : result->has_problems() ? 1 : 0);
}

}  // namespace sage
