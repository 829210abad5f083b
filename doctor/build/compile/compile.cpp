#include "doctor/build/compile/compile.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "doctor/build/compile/command.hpp"
#include "doctor/build/compile/identity.hpp"
#include "doctor/build/install/digest.hpp"
#include "probes/base/text.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/proof_child/unbundle.hpp"

namespace sage {
namespace {

bool is_library(CompilerKind kind) { return kind == CompilerKind::hiprtc || kind == CompilerKind::comgr; }

/// They would add to, or take the place of, what is asked of a compiler; the cache knows nothing of them.
const JobEnvironment& clean_environment() {
  static const JobEnvironment changes = {
      {"CPATH", std::nullopt},
      {"C_INCLUDE_PATH", std::nullopt},
      {"CPLUS_INCLUDE_PATH", std::nullopt},
      {"HIPCC_COMPILE_FLAGS_APPEND", std::nullopt},
      {"HIPCC_LINK_FLAGS_APPEND", std::nullopt},
      {"NVCC_APPEND_FLAGS", std::nullopt},
      {"NVCC_PREPEND_FLAGS", std::nullopt},
      {"HIP_PLATFORM", "amd"},  // else hipcc may pass everything on to nvcc
  };
  return changes;
}

bool is_full(const std::string& folder) {
  constexpr std::uintmax_t less_than_any_object = 64 * 1024;
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  return !error && space.available < less_than_any_object;
}

std::string output_path(const TargetRequest& request, const Unit& unit) {
  return request.folder + "/" + object_file_name(request.target, unit.name);
}

std::vector<std::string> command_of(const TargetRequest& request, const Unit& unit, bool bundle_allowed) {
  return compile_command({request.kind, request.compiler, request.target, unit.name, request.source,
                          output_path(request, unit), bundle_allowed});
}

/// Without the paths of this run, and the same whether or not the compiler knows how not to bundle.
std::string key_of(const TargetRequest& request, const Unit& unit) {
  const std::vector<std::string> flags =
      is_library(request.kind)
          ? library_options(request.kind, request.target, unit_definitions(unit.name))
          : device_command({request.kind, "", request.target, unit_definitions(unit.name), true, false, "", ""});
  return sha256_hex(cache_key_text(request.source_digest, request.identity, request.target, unit.name, flags));
}

class TargetCompilation {
 public:
  TargetCompilation(const TargetRequest& request, const GfxTables& tables, const TargetCallbacks& callbacks,
                    TargetUnits all)
      : request_(request), tables_(tables), callbacks_(callbacks) {
    result_.target = request.target;
    result_.all = std::move(all);
    for (const Unit& unit : result_.all.units) {
      UnitResult row;
      row.unit = unit;
      if (!request.compiler.empty()) row.command = command_of(request, unit, false);
      result_.units.push_back(std::move(row));
    }
    objects_.resize(result_.units.size());
    failures_.resize(result_.units.size());
  }

  Result<TargetResult> run() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < result_.units.size(); ++i) {
      if (!take_from_cache(i)) open.push_back(i);
    }
    if (!request_.compiler.empty() && !open.empty()) {
      if (auto error = compile(open)) return *error;
    }
    for (std::size_t i = 0; i < result_.units.size(); ++i) settle(i);
    return std::move(result_);
  }

 private:
  bool take_from_cache(std::size_t i) {
    if (!request_.cached || request_.compiler.empty()) return false;
    const auto bytes = request_.cached(key_of(request_, result_.units[i].unit));
    if (!bytes) return false;
    VerifiedObject object = verify(i, *bytes);
    if (!object.usable()) return false;
    objects_[i] = std::move(object);
    result_.units[i].origin = ObjectOrigin::cached;
    if (callbacks_.from_cache) callbacks_.from_cache(i);
    return true;
  }

  [[nodiscard]] VerifiedObject verify(std::size_t i, std::string_view bytes) const {
    return verify_object(bytes, request_.target, result_.units[i].unit, tables_);
  }

  /// Once with a bare code object wanted; a compiler that does not know the option is asked again for a bundle.
  std::optional<Error> compile(std::vector<std::size_t> open) {
    if (auto error = attempt(open, false)) return error;
    const bool unknown_option = std::any_of(open.begin(), open.end(), [&](std::size_t i) {
      return failures_[i] && contains(result_.units[i].log, unbundling_option);
    });
    if (!unknown_option || result_.interrupted_by != 0) return std::nullopt;
    std::erase_if(open, [&](std::size_t i) { return objects_[i].has_value(); });
    for (const std::size_t i : open) failures_[i].reset();
    return attempt(open, true);
  }

  std::optional<Error> attempt(const std::vector<std::size_t>& open, bool bundle_allowed) {
    std::vector<Job> jobs;
    for (const std::size_t i : open) {
      result_.units[i].command = command_of(request_, result_.units[i].unit, bundle_allowed);
      std::remove(output_path(request_, result_.units[i].unit).c_str());
      jobs.push_back({result_.units[i].command, request_.deadline, !is_library(request_.kind), clean_environment()});
    }
    JobCallbacks callbacks;
    callbacks.tick = callbacks_.tick;
    callbacks.started = [&](std::size_t job) {
      if (callbacks_.started) callbacks_.started(open[job]);
    };
    callbacks.ended = [&](std::size_t job, const JobEnd& end) { take_end(open[job], end); };
    const auto ends = run_jobs(jobs, request_.parallel, request_.on_failure, callbacks);
    if (!ends) return ends.error();
    result_.interrupted_by = ends->interrupted_by;
    return std::nullopt;
  }

  void take_end(std::size_t i, const JobEnd& end) {
    UnitResult& row = result_.units[i];
    row.log = end.output;
    row.duration = end.duration;
    row.processor_time = end.processor_time;
    row.peak_memory_bytes = end.peak_memory_bytes;
    const auto written = file_calls::read_whole(output_path(request_, row.unit), Links::keep, largest_object);
    const bool wrote = written.ok() && !written->empty();
    if (!end.good() || !wrote) {
      if (end.ending != JobEnding::stopped) {
        failures_[i] = explain_failure(end, {request_.compiler, request_.kind, request_.target, request_.parallel, wrote,
                                             std::chrono::duration_cast<std::chrono::seconds>(request_.deadline),
                                             is_full(request_.folder)});
      }
    } else {
      VerifiedObject object = verify(i, *written);
      if (object.usable()) {
        if (request_.store) request_.store(key_of(request_, row.unit), object.bytes);
        objects_[i] = std::move(object);
      } else {
        failures_[i] = refused(object);
      }
    }
    if (callbacks_.ended) callbacks_.ended(i, end);
  }

  [[nodiscard]] BuildFailure refused(const VerifiedObject& object) const {
    BuildFailure failure;
    failure.id = "object-refused";
    failure.cause = request_.compiler + " ended well, but what it wrote can't be used: " + object.refusals.front() + ".";
    failure.remedy = "Take another compiler (sage-doctor toolchains --target " + request_.target + " lists them).";
    constexpr std::size_t most = 3;
    for (const std::string& refusal : object.refusals) {
      if (failure.evidence.size() < most) failure.evidence.push_back(refusal);
    }
    return failure;
  }

  [[nodiscard]] bool other_is_clean(const Unit& unit) const {
    const Unit* other = other_length(result_.all, unit);
    if (other == nullptr) return false;
    const auto index = static_cast<std::size_t>(other - result_.all.units.data());
    return objects_[index] && objects_[index]->clean();
  }

  void settle(std::size_t i) {
    UnitResult& row = result_.units[i];
    row.failure = failures_[i];
    if (objects_[i] && objects_[i]->clean()) return accept(row, *objects_[i], row.origin);
    if (objects_[i] && other_is_clean(row.unit)) {
      row.state = UnitState::left_out;
      row.warnings = objects_[i]->complaints;
      row.notes.push_back(row.unit.name + " is left out; " + other_length(result_.all, row.unit)->name +
                          " computes the same and compiled well");
      return;
    }
    const auto prebuilt = usable_prebuilt(i);
    if (objects_[i] && !(prebuilt && prebuilt->clean())) return accept(row, *objects_[i], row.origin);
    if (prebuilt) {
      if (objects_[i]) row.notes.push_back("the prebuilt object is used: " + join(objects_[i]->complaints, "; "));
      if (row.failure) row.notes.push_back("the prebuilt object is used: the compile failed");
      return accept(row, *prebuilt, ObjectOrigin::prebuilt);
    }
    if (row.failure || !request_.compiler.empty()) {
      row.state = row.failure ? UnitState::failed : UnitState::not_tried;
      return;
    }
    row.state = UnitState::failed;
    row.failure = BuildFailure{"nothing-to-use", "There is no compiler and no prebuilt object for " + request_.target + ".",
                               "sage-doctor toolchains --target " + request_.target + " tells what could build it.", {}};
  }

  [[nodiscard]] std::optional<VerifiedObject> usable_prebuilt(std::size_t i) const {
    if (!request_.prebuilt || result_.interrupted_by != 0) return std::nullopt;
    const auto bytes = request_.prebuilt(result_.units[i].unit);
    if (!bytes) return std::nullopt;
    VerifiedObject object = verify(i, *bytes);
    if (!object.usable()) return std::nullopt;
    return object;
  }

  static void accept(UnitResult& row, const VerifiedObject& object, ObjectOrigin origin) {
    row.state = UnitState::ready;
    row.origin = origin;
    row.bytes = object.bytes;
    row.kernels = object.kernels;
    row.warnings = object.complaints;
    row.notes.insert(row.notes.end(), object.notes.begin(), object.notes.end());
  }

  const TargetRequest& request_;
  const GfxTables& tables_;
  const TargetCallbacks& callbacks_;
  TargetResult result_;
  std::vector<std::optional<VerifiedObject>> objects_;  ///< usable ones
  std::vector<std::optional<BuildFailure>> failures_;
};

}  // namespace

bool TargetResult::complete() const {
  return std::all_of(units.begin(), units.end(), [](const UnitResult& row) {
    return row.state == UnitState::ready || row.state == UnitState::left_out;
  });
}

Result<TargetResult> compile_target(const TargetRequest& request, const GfxTables& tables,
                                    const TargetCallbacks& callbacks) {
  auto all = request.units ? request.units : units_of(request.target);
  if (!all) return Error{0, "there are no kernels for " + request.target};
  return TargetCompilation(request, tables, callbacks, *std::move(all)).run();
}

std::vector<std::vector<std::string>> target_commands(const TargetRequest& request) {
  std::vector<std::vector<std::string>> commands;
  const auto all = units_of(request.target);
  if (!all || request.compiler.empty()) return commands;
  for (const Unit& unit : all->units) commands.push_back(command_of(request, unit, false));
  return commands;
}

}  // namespace sage
