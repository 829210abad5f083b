#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "doctor/build/compile/compile.hpp"
#include "doctor/build/install/manifest.hpp"
#include "doctor/build/plan.hpp"
#include "doctor/build/smoke.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// How to carry out a plan.
struct BuildSettings {
  std::string prefix;        ///< absolute
  std::string tool_version;
  std::string time;          ///< UTC, "2026-12-01T03:00:00Z"
  std::string mark;          ///< make_mark() of the facts
  std::size_t parallel = 1;  ///< compilers at a time
  OnFailure on_failure = OnFailure::stop;
  bool require_gpu = false;
};

/// Who is told how far the build is. Every function may do nothing.
class BuildProgress {
 public:
  virtual ~BuildProgress() = default;
  /// Another build holds the prefix.
  virtual void waiting(const std::string& holder) = 0;
  virtual void target(const std::string& target, const Toolchain* compiler, std::size_t units) = 0;
  /// A compiler can't do it and the next one is tried.
  virtual void passed_over(const std::string& compiler, const std::string& reason) = 0;
  virtual void unit_started(const std::string& unit) = 0;
  virtual void unit_ended(const std::string& unit, const std::string& how) = 0;
  virtual void phase(const std::string& what) = 0;
  /// Five times a second while something runs.
  virtual void tick() = 0;
};

/// What became of one target.
struct TargetOutcome {
  std::string target;
  std::string family;
  const Toolchain* compiler = nullptr;  ///< into the facts; nullptr: none was there, objects made beforehand were taken
  std::vector<std::pair<std::string, std::string>> passed_over;  ///< compilers that were tried, and what was wrong
  std::vector<std::pair<std::string, std::string>> unable;       ///< compilers that were not even tried, and why
  TargetResult result;
};

/// What a build did. `manifest` and `folder` are of the installation that is there afterwards.
struct BuildOutcome {
  enum class State {
    installed,
    up_to_date,   ///< nothing had to be done
    failed,       ///< `problems` say why; what was installed before is as it was
    interrupted,
  };

  State state = State::failed;
  Manifest manifest;
  std::string folder;
  std::string prefix;
  std::vector<TargetOutcome> targets;  ///< of a build that compiled
  std::vector<SmokeRun> smoke;
  std::vector<std::string> problems;   ///< sentences
  std::vector<std::string> notes;
  bool gpu_failed = false;             ///< a GPU is here, or had to be, and nothing ran on it
  std::string log;                     ///< file of the whole log; empty: none was written

  /// Some kernel ran on a GPU.
  [[nodiscard]] bool ran_on_gpu() const;
};

/// Compiles, verifies, tries and installs. `host` and `tables` are what the plan was made with.
[[nodiscard]] BuildOutcome build(const BuildPlan& plan, const BuildSettings& settings, const Host& host,
                                 const GfxTables& tables, BuildProgress& progress);

/// The commands of a build with an empty cache and the first compiler of every target, ready to paste.
[[nodiscard]] std::vector<std::string> build_commands(const BuildPlan& plan, const std::string& prefix);

}  // namespace sage
