#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <spdlog/spdlog.h>

#include "doctor/build/install/manifest.hpp"
#include "doctor/build/plan.hpp"
#include "doctor/build/prefix.hpp"
#include "doctor/build/smoke.hpp"
#include "doctor/build/summary.hpp"
#include "doctor/cli/commands.hpp"
#include "doctor/cli/output.hpp"
#include "doctor/cli/progress.hpp"
#include "doctor/cli/session.hpp"

namespace sage {
namespace {

std::vector<std::string> targets_of(const Manifest& manifest) {
  std::vector<std::string> targets;
  for (const ManifestTarget& target : manifest.targets) targets.push_back(target.target);
  return targets;
}

/// A folder for the answers of the trials, gone with this.
class WorkFolder {
 public:
  WorkFolder() {
    std::error_code ignored;
    std::string name = std::filesystem::temp_directory_path(ignored).string() + "/sage-doctor-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<ManifestAccuracy> rows_of(const std::vector<SmokeRun>& runs) {
  std::vector<ManifestAccuracy> rows;
  for (const SmokeRun& run : runs) {
    for (const SmokeRecord& one : run.records) {
      rows.push_back({one.kernel, run.where, one.problem, one.relative_l1, one.rmse, one.worst_row, one.lse_error, one.passed});
    }
  }
  return rows;
}

}  // namespace

int run_test(const TestOptions& options) {
  const Result<Session> opened = open_session(options.machine);
  if (!opened) {
    spdlog::error("{}", opened.error().text);
    return exit_usage;
  }
  const Session& session = *opened;
  const Result<std::string> prefix = prefix_for(options.prefix, *session.host);
  if (!prefix) {
    spdlog::error("{}", prefix.error().text);
    return exit_usage;
  }
  const std::string folder = *prefix + "/current";
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
  const WorkFolder work;
  if (work.path().empty()) {
    spdlog::error("no private folder can be made; TMPDIR can name a place");
    return exit_usage;
  }
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
  bool good = true;
  for (const SmokeRun& run : runs) {
    if (run.state != SmokeRun::State::ran) spdlog::error("{}: {}", on_gpu ? "nothing ran on the GPU" : run.where, run.reason);
    for (const SmokeRecord& one : run.records) {
      if (!one.passed) spdlog::error("{}", wrong_numbers(one, run.where));
    }
    good = good && run.passed();
  }
  const std::vector<ManifestAccuracy> rows = rows_of(runs);
  std::string text = accuracy_text(rows, output_width());
  if (good) text += on_gpu ? "passed on the GPU\n" : "passed on emulated lanes; the code objects were NOT executed on a GPU\n";
  else text += "FAILED\n";
  return write_product(text, good ? 0 : 1);
}

}  // namespace sage
