// One build from plan to installation. Everything happens in a staged folder below the prefix; what is installed changes
// at one moment, at the end, and only when every kernel of every target was verified and no trial gave wrong numbers. So
// whatever goes wrong before leaves the installation of the last build as it was.

#include "doctor/build/build.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>

#include "doctor/build/build_log.hpp"
#include "doctor/build/compile/command.hpp"
#include "doctor/build/compile/identity.hpp"
#include "doctor/build/install/cache.hpp"
#include "doctor/build/install/digest.hpp"
#include "doctor/build/install/files.hpp"
#include "doctor/build/install/store.hpp"
#include "doctor/build/sources.hpp"
#include "doctor/checks/wording.hpp"
#include "kernels/include/sage/attention.h"
#include "probes/proof_child/device_command.hpp"

namespace sage {
namespace {

constexpr const char* source_file = "src/sage_kernels.hip";
constexpr const char* header_file = "include/sage/attention.h";
constexpr const char* library_file = "lib/libsage_attention.so.1";
constexpr const char* log_name = "build.log";
constexpr unsigned program_mode = 0755;

ManifestToolchain toolchain_entry(const Toolchain* compiler) {
  if (compiler == nullptr) return {"prebuilt", "", "", ""};
  const std::string kind = compiler->kind.known() ? std::string(enum_name(*compiler->kind)) : "";
  return {kind, compiler->path, compiler->clang_version.value_or(""), compiler->rocm_version.value_or("")};
}

/// The largest need of the kernels of one object: the prologue has three.
ManifestKernel kernel_entry(const UnitResult& unit, const std::string& file) {
  ManifestKernel entry;
  entry.name = unit.unit.name;
  entry.file = file;
  entry.sha256 = sha256_hex(unit.bytes);
  entry.origin = unit.origin;
  for (const KernelResources& one : unit.kernels) {
    entry.vgprs = std::max(entry.vgprs, one.vgprs);
    entry.sgprs = std::max(entry.sgprs, one.sgprs);
    entry.lds_bytes = std::max(entry.lds_bytes, one.lds_bytes);
    entry.scratch_bytes = std::max(entry.scratch_bytes, one.scratch_bytes);
    entry.spilled_registers = std::max(entry.spilled_registers, one.spilled_registers);
  }
  entry.warnings = unit.warnings;
  return entry;
}

std::string seconds(std::chrono::milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string short_failure(const BuildFailure& failure) {
  return failure.evidence.empty() ? failure.cause : failure.cause + ": " + failure.evidence.front();
}

bool ran_on_gpu(const Manifest& manifest) {
  return std::any_of(manifest.targets.begin(), manifest.targets.end(), [](const ManifestTarget& target) {
    return std::any_of(target.kernels.begin(), target.kernels.end(),
                       [](const ManifestKernel& kernel) { return kernel.executed_on == ExecutedOn::gpu; });
  });
}

class Build {
 public:
  Build(const BuildPlan& plan, const BuildSettings& settings, const Host& host, const GfxTables& tables,
        BuildProgress& progress)
      : plan_(plan), settings_(settings), host_(host), tables_(tables), progress_(progress) {
    outcome_.prefix = settings.prefix;
  }

  BuildOutcome run() {
    source_digest_ = device_text_digest();
    version_ = version_name();
    Result<Store> store = Store::open(settings_.prefix);
    if (!store) return refuse_prefix(store.error());
    if (already_installed(*store)) return std::move(outcome_);
    Result<StoreLock> lock = store->lock([&](const std::string& holder) {
      progress_.waiting(holder);
      return true;
    });
    if (!lock) return refuse_prefix(lock.error());
    // Whoever held the lock may have built just this.
    if (already_installed(*store)) return std::move(outcome_);
    build_under(*store, *lock);
    write_log(*store);
    return std::move(outcome_);
  }

 private:
  const BuildPlan& plan_;
  const BuildSettings& settings_;
  const Host& host_;
  const GfxTables& tables_;
  BuildProgress& progress_;
  BuildOutcome outcome_;
  BuildLog log_;
  std::string source_digest_;
  std::string version_;
  std::string stage_;

  BuildOutcome refuse_prefix(const Error& error) {
    outcome_.problems.push_back(error.text);
    return std::move(outcome_);
  }

  void fail(std::string reason) { outcome_.problems.push_back(std::move(reason)); }

  /// Equal for builds that would give the same installation.
  std::string version_name() const {
    std::string key = settings_.tool_version + "\n" + source_digest_ + "\n" + sha256_hex(attention_library()) + "\n" +
                      settings_.mark + "\n" + (plan_.gpu_expected ? "gpu" : "no gpu") + "\n";
    for (const TargetPlan& one : plan_.targets) {
      key += one.target + "\n";
      key += one.compilers.empty() ? "prebuilt\n" : compiler_identity(*one.compilers.front().compiler, host_) + "\n";
    }
    constexpr std::size_t digits = 12;
    return settings_.tool_version + "-" + sha256_hex(key).substr(0, digits);
  }

  bool already_installed(const Store& store) {
    const std::optional<std::string> folder = store.current();
    if (!folder) return false;
    const std::string name = folder->substr(folder->rfind('/') + 1);
    if (name != version_ && !name.starts_with(version_ + "-")) return false;
    Result<Manifest> manifest = read_manifest(*folder);
    if (!manifest || !altered_files(*folder, *manifest).empty()) return false;
    if (settings_.require_gpu && !sage::ran_on_gpu(*manifest)) return false;
    outcome_.state = BuildOutcome::State::up_to_date;
    outcome_.manifest = std::move(manifest).value();
    outcome_.folder = *folder;
    return true;
  }

  void build_under(const Store& store, const StoreLock& lock) {
    outcome_.state = BuildOutcome::State::failed;
    Result<std::string> stage = store.stage(lock);
    if (!stage) return fail(stage.error().text);
    stage_ = *stage;
    if (const auto problem = make_folders(work_folder())) return fail(problem->text);
    if (!write_sources()) return;
    if (!compile_all(ObjectCache(store.cache_folder()))) return;
    if (!smoke_test()) return;
    if (const auto problem = remove_tree(work_folder())) return fail(problem->text);
    describe();
    if (const auto problem = write_new_file(stage_ + "/" + std::string(manifest_name), manifest_text(outcome_.manifest))) {
      return fail(problem->text);
    }
    if (const auto problem = write_new_file(stage_ + "/" + log_name, log_.text())) return fail(problem->text);
    progress_.phase("installing");
    const Result<Published> published = store.publish(lock, stage_, version_);
    if (!published) return fail(published.error().text);
    outcome_.folder = published->folder;
    if (!published->leftover.empty()) outcome_.notes.push_back(published->leftover);
    outcome_.state = BuildOutcome::State::installed;
  }

  /// What compilers and trials write; gone before the stage becomes an installation.
  std::string work_folder() const { return stage_ + "/work"; }

  bool write_staged(const std::string& file, std::string_view bytes, unsigned mode = 0666) {
    const auto problem = write_new_file(stage_ + "/" + file, bytes, mode);
    if (problem) fail(problem->text);
    return !problem;
  }

  bool write_sources() {
    return write_staged(source_file, device_text()) && write_staged(header_file, attention_header()) &&
           write_staged(library_file, attention_library(), program_mode);
  }

  // ---- compile

  bool compile_all(const ObjectCache& cache) {
    bool all = true;
    for (const TargetPlan& target : plan_.targets) {
      outcome_.targets.push_back(compile_target_with_best(target, cache));
      const TargetOutcome& done = outcome_.targets.back();
      if (done.result.interrupted_by != 0) {
        outcome_.state = BuildOutcome::State::interrupted;
        return false;
      }
      all = explain(done) && all;
      if (!all && settings_.on_failure == OnFailure::stop) return false;
      if (all && !stage_objects(done)) return false;
    }
    return all;
  }

  /// The first compiler whose code is all as it should be; else the best that came of any: an old clang builds for new
  /// GPUs, but spills where a newer one does not.
  TargetOutcome compile_target_with_best(const TargetPlan& target, const ObjectCache& cache) {
    TargetOutcome outcome;
    outcome.target = target.target;
    outcome.family = family_name(target.units.family);
    std::vector<const Toolchain*> compilers;
    for (const RankedToolchain& one : target.compilers) compilers.push_back(one.compiler);
    if (compilers.empty()) compilers.push_back(nullptr);
    for (const RankedToolchain& one : target.unable) outcome.unable.emplace_back(one.compiler->path, one.verdict.reason);
    std::optional<Defects> least;
    std::vector<std::pair<const Toolchain*, std::string>> tried;
    for (const Toolchain* compiler : compilers) {
      TargetResult result = attempt(target, compiler, cache);
      const Defects defects = defects_of(result);
      const bool interrupted = result.interrupted_by != 0;
      const bool go_on = !interrupted && defects != Defects{} && compiler != compilers.back();
      tried.emplace_back(compiler, shortcoming(result));
      if (go_on) progress_.passed_over(compiler->path, tried.back().second);
      if (!least || defects < *least || interrupted) {
        least = defects;
        outcome.compiler = compiler;
        outcome.result = std::move(result);
      }
      if (!go_on) break;
    }
    for (const auto& [compiler, reason] : tried) {
      if (compiler != outcome.compiler) outcome.passed_over.emplace_back(compiler->path, reason);
    }
    return outcome;
  }

  TargetResult attempt(const TargetPlan& target, const Toolchain* compiler, const ObjectCache& cache) {
    TargetRequest request;
    request.target = target.target;
    request.source = stage_ + "/" + source_file;
    request.source_digest = source_digest_;
    request.folder = work_folder();
    request.parallel = settings_.parallel;
    request.on_failure = settings_.on_failure;
    if (compiler != nullptr) {
      request.kind = compiler->kind.value_or(CompilerKind::clang);
      request.compiler = compiler->path;
      request.identity = compiler_identity(*compiler, host_);
    }
    request.cached = [&](const std::string& key) { return cache.find(key); };
    request.store = [&](const std::string& key, const std::string& bytes) {
      if (const auto problem = cache.put(key, bytes)) outcome_.notes.push_back("not kept in the cache: " + problem->text);
    };
    request.prebuilt = [&](const Unit& unit) { return prebuilt_object(target.target, unit); };

    progress_.target(target.target, compiler, target.units.units.size());
    const auto name = [&](std::size_t unit) { return target.units.units[unit].name; };
    TargetCallbacks callbacks;
    callbacks.started = [&](std::size_t unit) { progress_.unit_started(name(unit)); };
    callbacks.ended = [&](std::size_t unit, const JobEnd& end) {
      progress_.unit_ended(name(unit), end.good() ? seconds(end.duration) : "failed");
    };
    callbacks.from_cache = [&](std::size_t unit) { progress_.unit_ended(name(unit), "from the cache"); };
    callbacks.tick = [&] { progress_.tick(); };
    Result<TargetResult> result = compile_target(request, tables_, callbacks);
    if (!result) {
      TargetResult none;
      none.target = target.target;
      fail(target.target + ": " + result.error().text);
      return none;
    }
    log_.add(*result, compiler);
    return std::move(result).value();
  }

  /// What to have least of, the worst first: failures, objects with warnings, objects that were not compiled here.
  struct Defects {
    std::size_t failed = 0;
    std::size_t warned = 0;
    std::size_t prebuilt = 0;

    friend auto operator<=>(const Defects&, const Defects&) = default;
  };

  static Defects defects_of(const TargetResult& result) {
    Defects defects;
    if (result.units.empty() || !result.complete()) defects.failed = 1;
    for (const UnitResult& unit : result.units) {
      if (unit.state == UnitState::failed) ++defects.failed;
      if (!unit.warnings.empty()) ++defects.warned;
      if (unit.origin == ObjectOrigin::prebuilt) ++defects.prebuilt;
    }
    return defects;
  }

  static std::string shortcoming(const TargetResult& result) {
    for (const UnitResult& unit : result.units) {
      if (unit.failure) return short_failure(*unit.failure);
    }
    for (const UnitResult& unit : result.units) {
      if (!unit.warnings.empty()) return unit.warnings.front();
    }
    return "";
  }

  /// True when the target is complete. The units' failures stay where they are, for the summary.
  bool explain(const TargetOutcome& done) {
    if (done.result.complete() && !done.result.units.empty()) return true;
    const auto& units = done.result.units;
    const auto failed = std::count_if(units.begin(), units.end(), [](const UnitResult& unit) { return unit.state == UnitState::failed; });
    fail(done.target + ": " + counted(static_cast<std::size_t>(failed), "kernel") + " could not be built");
    return false;
  }

  bool stage_objects(const TargetOutcome& done) {
    for (const UnitResult& unit : done.result.units) {
      if (unit.state != UnitState::ready) continue;
      if (!write_staged("kernels/" + object_file_name(done.target, unit.unit.name), unit.bytes)) return false;
    }
    return true;
  }

  // ---- try

  bool smoke_test() {
    const auto tick = [&] { progress_.tick(); };
    if (plan_.gpu_expected || settings_.require_gpu) {
      progress_.phase("running the kernels on the GPU");
      SmokeRun run = smoke_on_gpu(stage_ + "/" + library_file, stage_ + "/kernels", plan_.runtimes, work_folder(), tick);
      outcome_.gpu_failed = run.state != SmokeRun::State::ran;
      outcome_.smoke.push_back(std::move(run));
    } else {
      progress_.phase("trying the kernels' source on emulated lanes");
      std::vector<std::string> targets;
      for (const TargetPlan& one : plan_.targets) targets.push_back(one.target);
      outcome_.smoke = smoke_emulated(targets, settings_.parallel, work_folder(), tick);
    }
    return judge_smoke();
  }

  bool judge_smoke() {
    for (const std::string& problem : smoke_problems(outcome_.smoke)) fail(problem);
    return all_passed(outcome_.smoke);
  }

  // ---- describe

  void describe() {
    Manifest& manifest = outcome_.manifest;
    manifest.tool_version = settings_.tool_version;
    manifest.created = settings_.time;
    manifest.mark = settings_.mark;
    manifest.source_sha256 = source_digest_;
    manifest.library = {library_file, sha256_hex(attention_library()), SAGE_ATTENTION_VERSION};
    manifest.other_files = {{source_file, source_digest_}, {header_file, sha256_hex(attention_header())}};
    for (const TargetOutcome& done : outcome_.targets) {
      ManifestTarget target{done.target, done.family, toolchain_entry(done.compiler), {}};
      for (const UnitResult& unit : done.result.units) {
        if (unit.state != UnitState::ready) continue;
        target.kernels.push_back(kernel_entry(unit, "kernels/" + object_file_name(done.target, unit.unit.name)));
        target.kernels.back().executed_on = executed(done.target, unit.unit) ? ExecutedOn::gpu : ExecutedOn::none;
      }
      manifest.targets.push_back(std::move(target));
    }
    manifest.accuracy = accuracy_rows(outcome_.smoke);
  }

  /// Every call runs the prologue too.
  bool executed(const std::string& target, const Unit& unit) const {
    for (const SmokeRun& run : outcome_.smoke) {
      if (!run.where.starts_with("gpu " + target)) continue;
      if (unit.tile == nullptr) return !run.records.empty();
      for (const SmokeRecord& one : run.records) {
        if (one.kernel == unit.name) return true;
      }
    }
    return false;
  }

  void write_log(const Store& store) {
    const std::string file = store.prefix() + "/" + log_name;
    if (!replace_file(file, log_.text())) outcome_.log = file;
  }
};

}  // namespace

bool BuildOutcome::ran_on_gpu() const {
  return sage::ran_on_gpu(manifest);
}

BuildOutcome build(const BuildPlan& plan, const BuildSettings& settings, const Host& host, const GfxTables& tables,
                   BuildProgress& progress) {
  return Build(plan, settings, host, tables, progress).run();
}

std::vector<std::string> build_commands(const BuildPlan& plan, const std::string& prefix) {
  std::vector<std::string> lines;
  for (const TargetPlan& target : plan.targets) {
    if (target.compilers.empty()) {
      lines.push_back("# " + target.target + ": no compiler here can build for it; objects made beforehand are taken where there are any");
      continue;
    }
    TargetRequest request;
    request.target = target.target;
    request.kind = target.compilers.front().compiler->kind.value_or(CompilerKind::clang);
    request.compiler = target.compilers.front().compiler->path;
    request.source = prefix + "/" + source_file;
    request.folder = prefix;
    for (const std::vector<std::string>& command : target_commands(request)) lines.push_back(pasteable(command));
  }
  return lines;
}

}  // namespace sage
