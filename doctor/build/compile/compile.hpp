#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/build/compile/failures.hpp"
#include "doctor/build/compile/jobs.hpp"
#include "doctor/build/compile/object.hpp"
#include "doctor/build/compile/units.hpp"
#include "doctor/build/object_origin.hpp"
#include "probes/facts/toolchains.hpp"
#include "probes/gfx_tables.hpp"

namespace sage {

/// What to build for one target, with what. The functions may be empty: no cache, no prebuilt objects.
struct TargetRequest {
  std::string target;
  std::optional<TargetUnits> units;  ///< nullopt: units_of(target)
  CompilerKind kind = CompilerKind::clang;
  std::string compiler;         ///< path of program or library; empty: nothing is compiled, only cache and prebuilt objects are used
  std::string identity;         ///< compiler_identity()
  std::string source;           ///< absolute path of the file of the device text
  std::string source_digest;    ///< SHA-256 of it
  std::string folder;           ///< absolute path of an existing folder for the compilers' outputs
  std::size_t parallel = 1;
  OnFailure on_failure = OnFailure::stop;
  std::chrono::milliseconds deadline = std::chrono::minutes(10);  ///< of one unit

  std::function<std::optional<std::string>(const std::string& key)> cached;
  std::function<void(const std::string& key, const std::string& bytes)> store;
  std::function<std::optional<std::string>(const Unit& unit)> prebuilt;
};

enum class UnitState {
  ready,      ///< `bytes` are to be installed, with `warnings` perhaps
  left_out,   ///< the other length class does its work; `warnings` say why
  failed,     ///< `failure` says why
  not_tried,  ///< stopped before
};

struct UnitResult {
  Unit unit;
  UnitState state = UnitState::not_tried;
  ObjectOrigin origin = ObjectOrigin::compiled;
  std::string bytes;
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  std::optional<BuildFailure> failure;  ///< also where a prebuilt object took the place of a failed compile
  std::vector<std::string> command;     ///< what was run or would have been
  std::string log;                      ///< the compiler's output
  std::chrono::milliseconds duration{};
  std::chrono::milliseconds processor_time{};
  std::uint64_t peak_memory_bytes = 0;
};

struct TargetResult {
  std::string target;
  TargetUnits all;
  std::vector<UnitResult> units;  ///< in the order of all.units
  int interrupted_by = 0;         ///< a signal; 0: not interrupted

  /// Every unit is ready or left out.
  [[nodiscard]] bool complete() const;
};

/// Indices are those of TargetResult::units. `resolved` comes for units that no compiler was started for, too.
struct TargetCallbacks {
  std::function<void(std::size_t unit)> started;
  std::function<void(std::size_t unit, const JobEnd&)> ended;
  std::function<void(std::size_t unit)> from_cache;
  std::function<void()> tick;
};

/// Compiles what the cache lacks, verifies everything, and settles what is installed of each unit: a clean object; else, where the
/// other length class of the same tile is clean, none; else a clean prebuilt object; else the object with its warnings. An object of another
/// target or without its kernels, and a failed compile, are failures unless a prebuilt object takes their place. Usable results of compilers go
/// into the cache; what comes out of it is verified like them. Error: no kernels exist for the target, or no process can be made.
[[nodiscard]] Result<TargetResult> compile_target(const TargetRequest& request, const GfxTables& tables,
                                                  const TargetCallbacks& callbacks);

/// The commands that compile_target() would run with an empty cache, in its order.
[[nodiscard]] std::vector<std::vector<std::string>> target_commands(const TargetRequest& request);

}  // namespace sage
