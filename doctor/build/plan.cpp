#include "doctor/build/plan.hpp"

#include <algorithm>
#include <utility>

#include "doctor/build/without_kernels.hpp"

namespace sage {
namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

/// The ISA that the loader compares code with: what an override claims that has an effect, else the GPU's own.
std::vector<std::string> targets_of_gpus(const Facts& facts) {
  std::vector<std::string> targets;
  const std::optional<std::string> claimed = target_of_override(own_override(facts));
  for (const Gpu& gpu : facts.gpus.amd.value_or({})) {
    if (claimed) add_once(targets, *claimed);
    else if (gpu.target.known()) add_once(targets, *gpu.target);
  }
  return targets;
}

/// libamdhip64 in the order in which it is tried: what `import torch` gets, then every other copy.
std::vector<std::string> hip_runtimes(const Facts& facts) {
  std::vector<std::string> paths;
  for (const LoadPrediction& one : facts.libraries.predictions.value_or({})) {
    if (!one.scenario.is(LoadScenario::torch)) continue;
    for (const LoadedCopy& copy : one.copies.value_or({})) {
      if (copy.library.is(RuntimeLibrary::amdhip64)) add_once(paths, copy.path);
    }
  }
  for (const LibraryCopy& copy : facts.libraries.copies.value_or({})) {
    if (copy.library.is(RuntimeLibrary::amdhip64)) add_once(paths, copy.path);
  }
  return paths;
}

bool names(const Toolchain& compiler, const std::string& wanted) {
  return compiler.path == wanted || compiler.canonical.is(wanted) ||
         (compiler.kind.known() && enum_name(*compiler.kind) == wanted);
}

/// Fills in those that can or may build the kernels, or the asked one, even if it seems unable to: the user may know better.
void choose_compilers(const Facts& facts, const GfxTables& tables, const std::string& wanted, TargetPlan& plan) {
  for (RankedToolchain& one : rank_toolchains(facts, tables, plan.target, BuildPurpose::kernels)) {
    const bool able = one.verdict.can != CanBuild::no;
    const bool of_other_vendor = one.compiler->kind.is(CompilerKind::nvcc) != plan.target.starts_with("sm_");
    if (wanted.empty() ? able : names(*one.compiler, wanted)) plan.compilers.push_back(std::move(one));
    else if (!able && !of_other_vendor) plan.unable.push_back(std::move(one));
  }
}

NoPlan no_target(const Facts& facts) {
  NoPlan none;
  if (!facts.gpus.amd.known()) {
    none.reason = "this machine's GPUs are unknown: " + facts.gpus.amd.why_unknown().text;
  } else if (facts.gpus.amd->empty()) {
    none.reason = "there is no AMD GPU here to build for";
  } else {
    none.reason = "what this machine's GPU is could not be found out";
  }
  none.advice = {"sage-doctor check          says why",
                 "sage-doctor build --target gfx1201          builds for a GPU that is not here"};
  return none;
}

std::vector<std::string> wanted_targets(const std::vector<std::string>& asked) {
  std::vector<std::string> targets;
  for (const std::string& one : asked) {
    if (one != "all") {
      add_once(targets, one);
      continue;
    }
    for (const std::string& target : targets_with_kernels()) add_once(targets, target);
  }
  return targets;
}

std::string processor_of(const std::string& target) {
  return target.substr(0, target.find(':'));
}

}  // namespace

bool has_nvidia(const Facts& facts) {
  const auto others = facts.gpus.others.value_or({});
  return std::any_of(others.begin(), others.end(), [](const std::string& one) { return one.starts_with("NVIDIA"); });
}

BuildPlanning make_build_plan(const Facts& facts, const GfxTables& tables, const BuildWish& wish) {
  BuildPlanning planning;
  BuildPlan& plan = planning.plan;
  plan.gpus = targets_of_gpus(facts);
  const bool asked = !wish.targets.empty();
  plan.targets_source = asked ? "--target" : "this machine's GPU";
  const std::vector<std::string> targets = asked ? wanted_targets(wish.targets) : plan.gpus;
  if (targets.empty()) {
    planning.problems.push_back(no_target(facts));
    return planning;
  }
  std::vector<NoPlan> without;
  for (const std::string& target : targets) {
    if (std::optional<TargetUnits> units = units_of(target)) {
      plan.targets.push_back({target, std::move(*units), {}, {}});
      choose_compilers(facts, tables, wish.toolchain, plan.targets.back());
    } else if (target.starts_with("sm_") || tables.target(processor_of(target)) != nullptr) {
      WithoutKernels why = without_kernels(processor_of(target), tables);
      without.push_back({1, std::move(why.reason), std::move(why.advice)});
    } else {
      planning.problems.push_back({2, no_such_target(target, tables), {}});
    }
  }
  // An integrated GPU without kernels beside a card that has some is no reason to give up; an asked one is.
  if (asked || plan.targets.empty()) planning.problems.insert(planning.problems.end(), without.begin(), without.end());

  for (const TargetPlan& one : plan.targets) {
    const bool here = std::find(plan.gpus.begin(), plan.gpus.end(), processor_of(one.target)) != plan.gpus.end();
    const bool nvidia = device::is_nvidia(one.units.family) && has_nvidia(facts);
    if (here) plan.runtimes = hip_runtimes(facts);
    if (nvidia) plan.runtimes.emplace_back("libcuda.so.1");
    plan.gpu_expected = plan.gpu_expected || here || nvidia;
  }
  if (!wish.toolchain.empty() && facts.toolchains.compilers.known()) {
    const auto& all = *facts.toolchains.compilers;
    const bool there = std::any_of(all.begin(), all.end(), [&](const Toolchain& one) { return names(one, wish.toolchain); });
    if (!there) {
      planning.problems.push_back({2, "--toolchain: no compiler of that path or kind was found: " + wish.toolchain,
                                   {"sage-doctor toolchains          lists them"}});
    }
  }
  return planning;
}

}  // namespace sage
