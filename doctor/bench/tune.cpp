// A tuning changes an installation as a build does: a staged copy of the current version with what is new, then one
// switch of the link. Nothing is left half done when it is interrupted, and the version before stays.

#include "doctor/bench/tune.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>

#include "doctor/bench/statistics.hpp"
#include "doctor/build/compile/compile.hpp"
#include "doctor/build/compile/identity.hpp"
#include "doctor/build/install/cache.hpp"
#include "doctor/build/install/digest.hpp"
#include "doctor/build/install/files.hpp"
#include "doctor/build/install/store.hpp"
#include "doctor/build/sources.hpp"
#include "kernels/runtime/tuning.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

constexpr double least_gain = 0.02;  // below it the next run may say otherwise
constexpr std::size_t most_file_bytes = std::size_t{64} << 20;
constexpr unsigned program_mode = 0755;
constexpr const char* source_file = "src/sage_kernels.hip";
constexpr std::string_view kernels_folder = "kernels/";

constexpr std::uint32_t usual_heads = 32;

/// Enough workgroups to fill a GPU, few enough to be done in milliseconds.
std::uint32_t usual_batch(device::Length length) {
  return length == device::Length::long_q ? 2 : 4;
}
std::uint32_t usual_tokens(const device::ShapeClass& shape, device::Family family) {
  if (shape.length == device::Length::long_q) return 4096;
  return static_cast<std::uint32_t>(device::fewest_long_queries(family, shape.dp) / 2);
}

template <class T>
bool asked_for(const std::vector<T>& asked, const T& one) {
  return asked.empty() || std::find(asked.begin(), asked.end(), one) != asked.end();
}

std::string tuning_path() {
  return std::string(kernels_folder) + std::string(runtime::tuning_file);
}

bool is_alternative(const std::string& kernel) {
  return std::any_of(device::alternative_table.begin(), device::alternative_table.end(),
                     [&](const device::Tile& tile) { return kernel == tile.kernel; });
}

/// A kernel that may be chosen, with its code object.
struct Candidate {
  const device::Tile* tile = nullptr;
  std::string file;  ///< "kernels/gfx1201-sage_attention_d64_F16_B256K64Q32.hsaco"
  std::string bytes;
  std::vector<KernelResources> resources;  ///< of alternatives
  ObjectOrigin origin = ObjectOrigin::compiled;
};

class Tuner {
 public:
  Tuner(const BenchPlace& place, const TuneSettings& settings, const Manifest& manifest, const BuildPlan& plan,
        const Facts& facts, const Host& host, const GfxTables& tables, const BenchProgress& progress)
      : place_(place),
        settings_(settings),
        manifest_(untuned(manifest)),
        before_(manifest),
        plan_(plan),
        facts_(facts),
        host_(host),
        tables_(tables),
        progress_(progress) {}

  Result<BenchResult> run() {
    if (manifest_.source_sha256 != device_text_digest()) {
      return Error{0, "the installed kernels were built from another version of the source: sage-doctor build"};
    }
    BenchRequest request{place_.library, place_.kernels, "", {}, settings_.wish.runs, true};
    progress_("looking for the GPU", 0, 0);
    Result<BenchRun> opened = find_gpu(request, place_.runtimes, place_.work);
    if (!opened) return opened.error();
    opened_ = std::move(opened).value();
    runtime_ = request.runtime;
    result_.tool = settings_.tool;
    result_.time = settings_.time;
    result_.device = opened_.device;
    add_facts_of_gpu(facts_, result_.device);
    result_.method = {"driver events", 3, 0, opened_.copied_bytes};
    result_.tuning = BenchTuning{manifest_.source_sha256, "", 0, {}, {}, false};
    target_ = installed_target();
    if (target_ == nullptr)
      return Error{0, "no installed kernels are for " + opened_.device.target + ": sage-doctor build"};

    Result<Store> store = Store::open(settings_.prefix);
    if (!store) return store.error();
    Result<StoreLock> lock = store->lock([&](const std::string&) {
      progress_("another build is at work here; waiting for it", 0, 0);
      return true;
    });
    if (!lock) return lock.error();
    if (auto problem = take_installed()) return *problem;
    if (auto problem = compile_alternatives(ObjectCache(store->cache_folder()))) return *problem;
    if (auto problem = try_all()) return *problem;
    result_.tuning->choices = choose(result_.tuning->trials, [&](const std::string& name) { return usual_of(name); });
    if (auto problem = keep(*store, *lock)) return *problem;
    return std::move(result_);
  }

 private:
  using Problem = std::optional<Error>;

  const ManifestTarget* installed_target() const {
    for (const ManifestTarget& one : manifest_.targets) {
      if (processor_of(one.target) == processor_of(opened_.device.target)) return &one;
    }
    return nullptr;
  }

  /// Of `tile`, those that are tried.
  [[nodiscard]] std::vector<TuneCase> cases_of(const device::Tile& tile) const {
    std::vector<TuneCase> cases;
    for (const TuneCase& one : cases_) {
      if (one.shape_class.dp == tile.dp && one.shape_class.pv == tile.pv) cases.push_back(one);
    }
    return cases;
  }

  [[nodiscard]] std::string installation() const { return settings_.prefix + "/current"; }

  Problem take_installed() {
    const auto units = units_of(target_->target);
    if (!units) return Error{0, "there are no kernels for " + target_->target};
    family_ = units->family;
    cases_ = tune_cases(settings_.wish, family_);
    for (const ManifestKernel& kernel : target_->kernels) {
      Result<std::string> bytes =
          file_calls::read_whole(installation() + "/" + kernel.file, Links::keep, most_file_bytes);
      if (!bytes) return bytes.error();
      if (kernel.name == prologue_unit) {
        prologue_ = {nullptr, kernel.file, std::move(bytes).value(), {}, kernel.origin};
        continue;
      }
      const std::size_t index = device::tile_index(family_, kernel.name);
      if (index < device::tile_table.size() && !cases_of(device::tile_at(index)).empty())
        candidates_.push_back({&device::tile_at(index), kernel.file, std::move(bytes).value(), {}, kernel.origin});
    }
    if (prologue_.bytes.empty())
      return Error{0, "the installation has no " + std::string(prologue_unit) + ": sage-doctor build"};
    return std::nullopt;
  }

  /// Each alternative by the first compiler whose object is clean.
  Problem compile_alternatives(const ObjectCache& cache) {
    const auto all = alternative_units_of(target_->target);
    if (!all) return std::nullopt;
    std::vector<const Toolchain*> compilers;
    for (const TargetPlan& one : plan_.targets) {
      if (one.target != target_->target) continue;
      for (const RankedToolchain& ranked : one.compilers) compilers.push_back(ranked.compiler);
    }
    TargetUnits open = *all;
    std::erase_if(open.units, [&](const Unit& unit) { return cases_of(*unit.tile).empty(); });
    result_.tuning->alternatives = static_cast<std::uint32_t>(open.units.size());
    std::map<std::string, std::string> why;
    for (const Toolchain* compiler : compilers) {
      if (open.units.empty()) break;
      progress_("compiling " + std::to_string(open.units.size()) + " alternatives with " + compiler->path, 0, 0);
      const auto made = compile(open, *compiler, cache);
      if (!made) return made.error();
      if (made->interrupted_by != 0) return Error{EINTR, "interrupted: nothing was stored"};
      for (const UnitResult& unit : made->units) {
        if (unit.state == UnitState::ready && unit.warnings.empty()) {
          if (result_.tuning->compiler.empty()) result_.tuning->compiler = compiler->path;
          candidates_.push_back({unit.unit.tile,
                                 std::string(kernels_folder) + object_file_name(target_->target, unit.unit.name),
                                 unit.bytes, unit.kernels, unit.origin});
          std::erase_if(open.units, [&](const Unit& one) { return one.name == unit.unit.name; });
        } else {
          why[unit.unit.name] = !unit.warnings.empty() ? unit.warnings.front()
                                : unit.failure         ? unit.failure->cause
                                                       : "it was not compiled";
        }
      }
    }
    for (const Unit& unit : open.units) {
      const std::string reason = why.count(unit.name) == 1 ? why[unit.name] : "no compiler for it is here";
      for (const TuneCase& one : cases_of(*unit.tile)) {
        result_.tuning->trials.push_back(
            {runtime::class_text(one.shape_class), unit.name, std::nullopt, std::nullopt, reason});
      }
    }
    return std::nullopt;
  }

  Result<TargetResult> compile(const TargetUnits& units, const Toolchain& compiler, const ObjectCache& cache) const {
    TargetRequest request;
    request.target = target_->target;
    request.units = units;
    request.kind = compiler.kind.value_or(CompilerKind::clang);
    request.compiler = compiler.path;
    request.identity = compiler_identity(compiler, host_);
    request.source = installation() + "/" + source_file;
    request.source_digest = manifest_.source_sha256;
    request.folder = place_.work;
    request.parallel = settings_.parallel;
    request.on_failure = OnFailure::keep_going;
    request.cached = [&](const std::string& key) { return cache.find(key); };
    // What is not kept is compiled again the next time.
    request.store = [&](const std::string& key, const std::string& bytes) { static_cast<void>(cache.put(key, bytes)); };
    return compile_target(request, tables_, {});
  }

  /// The tuning that leads from `shapes` to the kernel.
  [[nodiscard]] runtime::Tuning tuning_for(
      const std::vector<std::pair<device::ShapeClass, std::string>>& choices) const {
    runtime::Tuning tuning{manifest_.source_sha256, opened_.device.target, opened_.device.name, {}};
    for (const auto& [shape, kernel] : choices) tuning.choices.push_back({shape, kernel});
    return tuning;
  }

  /// A folder with one attention kernel, chosen for all its classes.
  Result<std::string> folder_for(const Candidate& candidate) const {
    const std::string folder = place_.work + "/" + candidate.tile->kernel;
    std::vector<std::pair<device::ShapeClass, std::string>> choices;
    for (const TuneCase& one : cases_of(*candidate.tile)) choices.emplace_back(one.shape_class, candidate.tile->kernel);
    const std::pair<std::string, std::string> files[] = {{prologue_.file, prologue_.bytes},
                                                         {candidate.file, candidate.bytes},
                                                         {tuning_path(), runtime::tuning_text(tuning_for(choices))}};
    for (const auto& [file, bytes] : files) {
      if (auto problem = write_new_file(folder + "/" + file, bytes)) return *problem;
    }
    return folder + "/" + std::string(kernels_folder);
  }

  Problem try_all() {
    std::vector<BenchRequest> requests;
    for (const Candidate& one : candidates_) {
      Result<std::string> folder = folder_for(one);
      if (!folder) return folder.error();
      BenchRequest request{place_.library, *folder, runtime_, {}, settings_.wish.runs, true};
      for (const TuneCase& what : cases_of(*one.tile)) request.cases.push_back(what.what);
      requests.push_back(std::move(request));
    }
    std::size_t done = 0;
    const auto tell = [&] {
      progress_(done < candidates_.size() ? candidates_[done].tile->kernel : "", done, candidates_.size());
    };
    const auto ended = [&](std::size_t) {
      ++done;
      tell();
    };
    const BenchRuns all = run_bench(requests, place_.work, ended, tell);
    if (all.interrupted_by != 0) return Error{EINTR, "interrupted: nothing was stored"};
    const std::vector<BenchRun>& runs = all.runs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::vector<TuneCase> cases = cases_of(*candidates_[i].tile);
      for (std::size_t k = 0; k < cases.size(); ++k) {
        result_.tuning->trials.push_back(trial_of(*candidates_[i].tile, cases[k].shape_class, runs[i], k));
      }
    }
    return std::nullopt;
  }

  TuneTrial trial_of(const device::Tile& tile, const device::ShapeClass& shape, const BenchRun& run,
                     std::size_t number) {
    TuneTrial trial;
    trial.shape_class = runtime::class_text(shape);
    trial.kernel = tile.kernel;
    if (number >= run.trials.size()) {
      trial.problem = run.reason.empty() ? "it was not reached" : run.reason;
      return trial;
    }
    const BenchTrial& one = run.trials[number];
    result_.method.flushed_bytes = std::max(result_.method.flushed_bytes, one.flushed_bytes);
    trial.problem = one.problem;
    if (!trial.problem.empty()) return trial;
    trial.accuracy = one.accuracy;
    if (one.kernel != tile.kernel)
      trial.problem = "the library ran " + one.kernel + " in its place";
    else if (!one.accuracy.passed)
      trial.problem = wrong_numbers(one.accuracy);
    else if (one.kernel_ms.empty())
      trial.problem = one.note;
    else
      trial.milliseconds = spread_of(one.kernel_ms);
    return trial;
  }

  /// As the library chooses: by length, or the other one where that was left out.
  std::string usual_of(const std::string& shape_class) const {
    std::string other;
    for (const Candidate& one : candidates_) {
      if (one.tile->alternative) continue;
      for (const TuneCase& what : cases_of(*one.tile)) {
        if (runtime::class_text(what.shape_class) != shape_class) continue;
        if (one.tile->length == what.shape_class.length) return one.tile->kernel;
        other = one.tile->kernel;
      }
    }
    return other;
  }

  const Candidate* candidate(const std::string& kernel) const {
    const auto found = std::find_if(candidates_.begin(), candidates_.end(),
                                    [&](const Candidate& one) { return kernel == one.tile->kernel; });
    return found == candidates_.end() ? nullptr : &*found;
  }

  // ---- store

  Problem keep(const Store& store, const StoreLock& lock) {
    const std::vector<TuneChoice>& choices = result_.tuning->choices;
    if (choices.empty()) result_.notes.emplace_back("no kernel is faster than the usual ones by 2 % or more");
    const bool was_tuned = before_.other_files.size() != manifest_.other_files.size();
    if (choices.empty() && !was_tuned) return std::nullopt;
    const std::vector<runtime::TunedClass> earlier = kept_choices();
    Result<std::string> stage = store.stage(lock);
    if (!stage) return stage.error();
    Manifest next = manifest_;
    if (auto problem = copy_files(next, *stage)) return problem;
    if (!choices.empty() || !earlier.empty()) {
      if (auto problem = add_choices(earlier, next, *stage)) return problem;
    }
    next.created = settings_.time;
    if (auto problem = write_new_file(*stage + "/" + std::string(manifest_name), manifest_text(next))) return problem;
    const std::optional<std::string> current = store.current();
    const Result<Published> published =
        store.publish(lock, *stage, current ? current->substr(current->rfind('/') + 1) : "tuned");
    if (!published) return published.error();
    result_.tuning->stored = !choices.empty();
    result_.notes.push_back(choices.empty() ? "what an earlier tuning had chosen for these shapes was removed from " +
                                                  published->folder
                                            : "the choice is in use now: " + published->folder + "/" + tuning_path());
    return std::nullopt;
  }

  Problem copy_files(const Manifest& manifest, const std::string& stage) const {
    std::vector<std::string> files = {manifest.library.file};
    for (const ManifestTarget& target : manifest.targets) {
      for (const ManifestKernel& kernel : target.kernels) files.push_back(kernel.file);
    }
    for (const ManifestFile& one : manifest.other_files) files.push_back(one.file);
    for (const std::string& file : files) {
      const Result<std::string> bytes =
          file_calls::read_whole(installation() + "/" + file, Links::keep, most_file_bytes);
      if (!bytes) return bytes.error();
      const bool program = file == manifest.library.file;
      if (auto problem = program ? write_new_file(stage + "/" + file, *bytes, program_mode)
                                 : write_new_file(stage + "/" + file, *bytes))
        return problem;
    }
    return std::nullopt;
  }

  /// Of the tuning that is in use, where it is for this GPU and source, what was not tried this time.
  std::vector<runtime::TunedClass> kept_choices() const {
    runtime::Tuning tuning;
    const Result<std::string> text =
        file_calls::read_whole(installation() + "/" + tuning_path(), Links::keep, runtime::most_tuning_bytes);
    if (!text || !runtime::read_tuning_text(*text, tuning).empty()) return {};
    runtime::ChosenTiles chosen{};
    if (!runtime::apply_tuning(tuning, family_, opened_.device.target, opened_.device.name, chosen).empty()) return {};
    std::erase_if(tuning.choices, [&](const runtime::TunedClass& one) {
      const auto tried = [&](const TuneCase& what) { return what.shape_class == one.shape; };
      return std::any_of(cases_.begin(), cases_.end(), tried) || entry_before(one.kernel) == nullptr;
    });
    return tuning.choices;
  }

  const ManifestKernel* entry_before(const std::string& kernel) const {
    for (const ManifestTarget& target : before_.targets) {
      if (target.target != target_->target) continue;
      for (const ManifestKernel& one : target.kernels) {
        if (one.name == kernel) return &one;
      }
    }
    return nullptr;
  }

  Problem add_choices(const std::vector<runtime::TunedClass>& earlier, Manifest& next, const std::string& stage) {
    std::vector<std::pair<device::ShapeClass, std::string>> choices;
    ManifestTarget& target = next.targets[static_cast<std::size_t>(target_ - manifest_.targets.data())];
    for (const runtime::TunedClass& one : earlier) {
      choices.emplace_back(one.shape, one.kernel);
      const ManifestKernel* const entry = entry_before(one.kernel);
      if (entry == nullptr || has_kernel(target, one.kernel) || candidate(one.kernel) != nullptr) continue;
      const Result<std::string> bytes =
          file_calls::read_whole(installation() + "/" + entry->file, Links::keep, most_file_bytes);
      if (!bytes) return bytes.error();
      if (auto problem = write_new_file(stage + "/" + entry->file, *bytes)) return problem;
      target.kernels.push_back(*entry);
    }
    for (const TuneChoice& one : result_.tuning->choices) {
      for (std::size_t i = 0; i < device::shape_class_count; ++i) {
        if (runtime::class_text(device::class_at(i)) == one.shape_class)
          choices.emplace_back(device::class_at(i), one.kernel);
      }
    }
    for (const auto& [shape, kernel] : choices) {
      const Candidate* const winner = candidate(kernel);
      if (winner == nullptr || has_kernel(target, kernel)) continue;
      if (auto problem = write_new_file(stage + "/" + winner->file, winner->bytes)) return problem;
      target.kernels.push_back(entry_of(*winner));
      add_accuracy(kernel, next);
    }
    const std::string text = runtime::tuning_text(tuning_for(choices));
    if (auto problem = write_new_file(stage + "/" + tuning_path(), text)) return problem;
    next.other_files.push_back({tuning_path(), sha256_hex(text)});
    return std::nullopt;
  }

  static bool has_kernel(const ManifestTarget& target, const std::string& kernel) {
    return std::any_of(target.kernels.begin(), target.kernels.end(),
                       [&](const ManifestKernel& one) { return one.name == kernel; });
  }

  static ManifestKernel entry_of(const Candidate& one) {
    ManifestKernel entry;
    entry.name = one.tile->kernel;
    entry.file = one.file;
    entry.sha256 = sha256_hex(one.bytes);
    entry.origin = one.origin;
    entry.executed_on = ExecutedOn::gpu;
    for (const KernelResources& uses : one.resources) {
      entry.vgprs = std::max(entry.vgprs, uses.vgprs);
      entry.sgprs = std::max(entry.sgprs, uses.sgprs);
      entry.lds_bytes = std::max(entry.lds_bytes, uses.lds_bytes);
    }
    return entry;
  }

  void add_accuracy(const std::string& kernel, Manifest& next) const {
    for (const TuneTrial& trial : result_.tuning->trials) {
      if (trial.kernel != kernel || !trial.accuracy) continue;
      next.accuracy.push_back({kernel, "gpu " + opened_.device.target, trial.shape_class, trial.accuracy->relative_l1,
                               trial.accuracy->rmse, trial.accuracy->worst_row, not_known, trial.accuracy->passed});
    }
  }

  const BenchPlace& place_;
  const TuneSettings& settings_;
  const Manifest manifest_;  // without any tuning
  const Manifest& before_;
  const BuildPlan& plan_;
  const Facts& facts_;
  const Host& host_;
  const GfxTables& tables_;
  const BenchProgress& progress_;
  BenchRun opened_;
  std::string runtime_;
  BenchResult result_;
  const ManifestTarget* target_ = nullptr;
  device::Family family_ = device::Family::gfx12;  // of the installed kernels
  std::vector<TuneCase> cases_;
  Candidate prologue_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<TuneCase> tune_cases(const BenchWish& wish, const device::Family family) {
  std::vector<TuneCase> cases;
  for (std::size_t i = 0; i < device::shape_class_count; ++i) {
    const device::ShapeClass shape = device::class_at(i);
    std::uint32_t tokens = wish.tokens.empty() ? usual_tokens(shape, family) : 0;
    for (const std::uint32_t one : wish.tokens) {
      if (device::tile_length(one, family, shape.dp) == shape.length) tokens = one;
    }
    std::uint32_t dim = wish.head_dims.empty() ? static_cast<std::uint32_t>(shape.dp) : 0;
    for (const std::uint32_t one : wish.head_dims) {
      if (device::padded_head_dim(static_cast<int>(one)) == shape.dp) dim = one;
    }
    const bool wanted = asked_for(wish.masks, std::string(shape.causal ? "causal" : "dense")) &&
                        asked_for(wish.pv, std::string(shape.pv == device::PvType::fp8 ? "fp8" : "f16"));
    if (tokens == 0 || dim == 0 || !wanted) continue;
    const std::uint32_t batch = wish.batch > 0 ? wish.batch : usual_batch(shape.length);
    const std::uint32_t heads = wish.heads > 0 ? wish.heads : usual_heads;
    cases.push_back(
        {shape, {plain_shape(batch, heads, tokens, dim, shape.causal), shape.pv, BenchForm::plain, tokens}});
  }
  return cases;
}

Manifest untuned(Manifest manifest) {
  std::erase_if(manifest.other_files, [](const ManifestFile& one) { return one.file == tuning_path(); });
  for (ManifestTarget& target : manifest.targets) {
    std::erase_if(target.kernels, [](const ManifestKernel& kernel) { return is_alternative(kernel.name); });
  }
  std::erase_if(manifest.accuracy, [](const ManifestAccuracy& row) { return is_alternative(row.kernel); });
  return manifest;
}

std::vector<TuneChoice> choose(const std::vector<TuneTrial>& trials,
                               const std::function<std::string(const std::string& shape_class)>& usual_of) {
  std::map<std::string, std::pair<const TuneTrial*, const TuneTrial*>>
      classes;  // the usual kernel's trial, and the fastest
  std::vector<std::string> order;
  for (const TuneTrial& one : trials) {
    if (!one.problem.empty() || !one.milliseconds || !(one.milliseconds->median > 0.0)) continue;
    if (classes.count(one.shape_class) == 0) order.push_back(one.shape_class);
    auto& [usual, fastest] = classes[one.shape_class];
    if (one.kernel == usual_of(one.shape_class)) usual = &one;
    if (fastest == nullptr || one.milliseconds->median < fastest->milliseconds->median) fastest = &one;
  }
  std::vector<TuneChoice> choices;
  for (const std::string& name : order) {
    const auto& [usual, fastest] = classes[name];
    if (fastest == usual) continue;
    // Without a usual kernel whose numbers are right, any that is right is a gain.
    const double gain = usual == nullptr ? 0.0 : usual->milliseconds->median / fastest->milliseconds->median - 1.0;
    if (usual != nullptr && gain < least_gain) continue;
    choices.push_back({name, fastest->kernel, usual_of(name), gain});
  }
  return choices;
}

Result<BenchResult> tune(const BenchPlace& place, const TuneSettings& settings, const Manifest& manifest,
                         const BuildPlan& plan, const Facts& facts, const Host& host, const GfxTables& tables,
                         const BenchProgress& progress) {
  return Tuner(place, settings, manifest, plan, facts, host, tables, progress).run();
}

}  // namespace sage
