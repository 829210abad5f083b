#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/build/install/manifest.hpp"
#include "doctor/build/plan.hpp"
#include "doctor/build/smoke.hpp"
#include "doctor/build/summary.hpp"
#include "doctor/cli/build_session.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/progress.hpp"
#include "doctor/cli/session.hpp"
#include "doctor/cli/work_folder.hpp"
#include "probes/host/private_folder.hpp"

namespace sage {
namespace {

std::vector<std::string> targets_of(const Manifest& manifest) {
  std::vector<std::string> targets;
  for (const ManifestTarget& target : manifest.targets) targets.push_back(target.target);
  return targets;
}

}  // namespace

int run_test(const TestOptions& options) {
  const Result<BuildSession> opened = open_build_session(options.machine, options.prefix);
  if (!opened) {
    spdlog::error("{}", opened.error().text);
    return exit_usage;
  }
  const Session& session = opened->session;
  const std::string folder = opened->prefix + "/current";
  const Result<Manifest> manifest = read_manifest(folder);
  if (!manifest) {
    spdlog::error("{}; nothing is installed there: sage-doctor build", manifest.error().text);
    return 1;
  }
  const std::vector<std::string> altered = altered_files(folder, *manifest);
  for (const std::string& one : altered) spdlog::error("{}", one);
  if (!altered.empty()) {
    spdlog::error("the installation in {} is damaged: sage-doctor build", folder);
    return 1;
  }
  Result<std::string> private_folder = make_private_folder();
  if (!private_folder) {
    spdlog::error("{}", private_folder.error().text);
    return exit_usage;
  }
  const WorkFolder work(std::move(private_folder).value());
  const BuildPlanning planning =
      make_build_plan(collect(session, *session.host, false), session.tables, {targets_of(*manifest), ""});
  const bool on_gpu = planning.plan.gpu_expected || options.require_gpu;
  std::vector<SmokeRun> runs;
  {
    Progress progress(false);
    progress.tell(on_gpu ? "running the kernels on the GPU" : "trying the kernels' source on emulated lanes");
    if (on_gpu) {
      runs.push_back(smoke_on_gpu(folder + "/" + manifest->library.file, folder + "/kernels", planning.plan.runtimes, work.path(), {}));
    } else {
      runs = smoke_emulated(targets_of(*manifest), session.host->process().usable_cpus, work.path(), {});
    }
  }
  for (const std::string& problem : smoke_problems(runs)) spdlog::error("{}", problem);
  const bool good = all_passed(runs);
  std::string text = accuracy_text(accuracy_rows(runs), output_width());
  if (good) text += on_gpu ? "passed on the GPU\n" : "passed on emulated lanes; the code objects were NOT executed on a GPU\n";
  else text += "FAILED\n";
  return write_product(text, good ? 0 : 1);
}

}  // namespace sage
