#include "doctor/env/toolchain_choice.hpp"

#include <tuple>
#include <vector>

#include "doctor/env/plan_parts.hpp"
#include "doctor/toolchain/choice.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

bool is_program(const Toolchain& toolchain) {
  return toolchain.kind.is(CompilerKind::hipcc) || toolchain.kind.is(CompilerKind::amdclang) ||
         toolchain.kind.is(CompilerKind::clang);
}

bool named(const Toolchain& toolchain, const ToolchainWish& wish) {
  if (wish.toolchain.empty() || toolchain.path == wish.toolchain) return true;
  if (!wish.canonical.empty() && toolchain.canonical.is(wish.canonical)) return true;
  return toolchain.kind.known() && enum_name(*toolchain.kind) == wish.toolchain;
}

bool in_root(const Toolchain& toolchain, const std::string& root) {
  return root.empty() || toolchain.root.is(root) || toolchain.path.starts_with(root + "/");
}

/// For machines without a GPU: the greater, the more complete, then the newer.
auto completeness(const Toolchain& toolchain) {
  const auto version = [](const Fact<std::string>& text) {
    return parse_version(text.value_or("0")).value_or(Version{});
  };
  return std::make_tuple(is_compiler_root(toolchain), version(toolchain.rocm_version),
                         toolchain.headers.value_or({}).size(), version(toolchain.clang_version),
                         !toolchain.trampoline.is(true), toolchain.kind.is(CompilerKind::hipcc));
}

bool wanted(const Toolchain& toolchain, const ToolchainWish& wish) {
  return is_program(toolchain) && named(toolchain, wish) && in_root(toolchain, wish.root);
}

ToolchainChoice most_complete(const Facts& facts, const ToolchainWish& wish) {
  ToolchainChoice best;
  for (const Toolchain& candidate : *facts.toolchains.compilers) {
    if (!wanted(candidate, wish)) continue;
    if (best.compiler == nullptr || completeness(candidate) > completeness(*best.compiler)) best.compiler = &candidate;
  }
  return best;
}

std::vector<BuildPurpose> purposes(const Facts& facts) {
  if (rocm_torch(facts) == nullptr) return {BuildPurpose::hip_programs, BuildPurpose::kernels};
  return {BuildPurpose::extensions, BuildPurpose::hip_programs, BuildPurpose::kernels};
}

ToolchainChoice by_verdict(const CheckInput& input, const ToolchainWish& wish, const std::string& target) {
  std::vector<std::vector<RankedToolchain>> by_purpose;
  for (const BuildPurpose purpose : purposes(input.facts)) {
    by_purpose.push_back(rank_toolchains(input.facts, input.tables, target, purpose));
  }
  ToolchainChoice refused;
  for (const CanBuild can : {CanBuild::yes, CanBuild::untried}) {
    for (const std::vector<RankedToolchain>& ranked : by_purpose) {
      for (const RankedToolchain& candidate : ranked) {
        if (!wanted(*candidate.compiler, wish)) continue;
        const std::string reason = candidate.compiler->path + ": " + candidate.verdict.reason + ".";
        if (candidate.verdict.can == can) {
          return {candidate.compiler, can == CanBuild::yes ? "" : "Untried: " + reason};
        }
        if (refused.compiler == nullptr) {
          refused = {candidate.compiler, "It builds nothing for " + target + ": " + reason};
        }
      }
    }
  }
  return refused;
}

std::string listing(const std::vector<Toolchain>& compilers) {
  std::vector<std::string> paths;
  for (const Toolchain& toolchain : compilers) {
    if (is_program(toolchain)) paths.push_back(toolchain.path);
  }
  return paths.empty() ? "no compiler was found" : "found: " + join(paths, ", ");
}

}  // namespace

bool is_compiler_root(const Toolchain& toolchain) {
  return !toolchain.root.value_or("").empty() && !toolchain.hip_headers.value_or("").empty() &&
         !toolchain.device_libraries.value_or("").empty() && !toolchain.kind.is(CompilerKind::clang);
}

Result<ToolchainChoice> choose_toolchain(const CheckInput& input, const ToolchainWish& wish,
                                         const std::string& target) {
  const Facts& facts = input.facts;
  const bool wished = !wish.toolchain.empty() || !wish.root.empty();
  const std::string asked = wish.toolchain.empty() ? "compiler in " + wish.root : "compiler " + wish.toolchain;
  if (!facts.toolchains.compilers.known()) {
    const std::string unknown = "Compilers are unknown: " + facts.toolchains.compilers.why_unknown().text + ".";
    if (wished) return Error{0, "there is no " + asked + ". " + unknown};
    return ToolchainChoice{nullptr, unknown};
  }
  ToolchainChoice choice = target.empty() ? most_complete(facts, wish) : by_verdict(input, wish, target);
  if (choice.compiler == nullptr) {
    if (wished) return Error{0, "there is no " + asked + "; " + listing(*facts.toolchains.compilers)};
    return ToolchainChoice{nullptr, "No compiler for AMD GPUs was found: nothing can be built."};
  }
  const bool useless = choice.caution.starts_with("It builds nothing");
  if (useless && !wished) choice = {nullptr, "No compiler here builds for " + target + ". " + choice.caution};
  return choice;
}

}  // namespace sage
