#pragma once

#include <string>
#include <vector>

#include "doctor/build/compile/units.hpp"
#include "doctor/toolchain/choice.hpp"
#include "probes/facts/facts.hpp"
#include "probes/gfx_tables.hpp"

namespace sage {

/// What the user asked of a build.
struct BuildWish {
  std::vector<std::string> targets;  ///< "gfx1201", "all"; empty: those of this machine's GPUs
  std::string toolchain;             ///< path or kind of compiler; empty: the best
};

/// One target with the compilers that may build it, the best first. None: only objects made beforehand are left.
struct TargetPlan {
  std::string target;
  TargetUnits units;
  std::vector<RankedToolchain> compilers;
  std::vector<RankedToolchain> unable;  ///< AMD compilers of this machine that can't, with the reason; no target of NVIDIA's
};

/// What to build with what. Pure: made from facts, before anything is run.
struct BuildPlan {
  std::vector<TargetPlan> targets;
  std::string targets_source;        ///< "--target", or "this machine's GPU"
  std::vector<std::string> gpus;     ///< targets of this machine's GPUs, each once; NVIDIA's are not known from files
  bool gpu_expected = false;         ///< one of `targets` is of a GPU of this machine: the kernels have to run there
  std::vector<std::string> runtimes; ///< driver libraries to try them with, the best first
};

/// Why there is no plan.
struct NoPlan {
  int status = 1;              ///< 2: what was asked for is wrong; 1: it can't be done here
  std::string reason;          ///< a sentence
  std::vector<std::string> advice;  ///< sentences or commands
};

struct BuildPlanning {
  BuildPlan plan;
  std::vector<NoPlan> problems;  ///< empty: the plan holds
};

/// A display adapter of NVIDIA's is here. What it is, files do not tell.
[[nodiscard]] bool has_nvidia(const Facts& facts);

/// `facts` must outlive the plan. Without wishes: a plan for every GPU that has kernels. A GPU without any is passed over as long as another has some.
[[nodiscard]] BuildPlanning make_build_plan(const Facts& facts, const GfxTables& tables, const BuildWish& wish);

}  // namespace sage
