#include "doctor/env/toolchain_choice.hpp"

#include <algorithm>
#include <tuple>

#include "probes/base/text.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

bool is_program(const Toolchain& toolchain) {
  return toolchain.kind.is(CompilerKind::hipcc) || toolchain.kind.is(CompilerKind::amdclang) ||
         toolchain.kind.is(CompilerKind::clang);
}

bool named(const Toolchain& toolchain, const std::string& wish) {
  if (wish.empty() || toolchain.path == wish || toolchain.canonical.is(wish)) return true;
  return toolchain.kind.known() && enum_name(*toolchain.kind) == wish;
}

bool in_root(const Toolchain& toolchain, const std::string& root) {
  return root.empty() || toolchain.root.is(root) || toolchain.path.starts_with(root + "/");
}

std::size_t covered(const Toolchain& toolchain, const std::vector<std::string>& targets) {
  const std::vector<std::string> known = toolchain.device_targets.value_or({});
  return static_cast<std::size_t>(std::count_if(targets.begin(), targets.end(), [&](const std::string& target) {
    return std::find(known.begin(), known.end(), target) != known.end();
  }));
}

/// The greater, the better: a whole tree before a bare clang, then one that knows the GPUs, then the newest.
auto merit(const Toolchain& toolchain, const std::vector<std::string>& targets) {
  return std::make_tuple(is_compiler_root(toolchain), covered(toolchain, targets),
                         parse_version(toolchain.rocm_version.value_or("0")).value_or(Version{}),
                         toolchain.headers.value_or({}).size(),
                         parse_version(toolchain.clang_version.value_or("0")).value_or(Version{}),
                         !toolchain.trampoline.is(true), toolchain.kind.is(CompilerKind::hipcc));
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

Result<const Toolchain*> choose_toolchain(const Facts& facts, const ToolchainWish& wish,
                                          const std::vector<std::string>& targets) {
  const bool wished = !wish.toolchain.empty() || !wish.root.empty();
  const std::string asked = wish.toolchain.empty() ? "compiler in " + wish.root : "compiler " + wish.toolchain;
  if (!facts.toolchains.compilers.known()) {
    if (!wished) return nullptr;
    return Error{0, "no " + asked + ": compilers were not found out (" +
                        facts.toolchains.compilers.why_unknown().text + ")"};
  }
  const Toolchain* best = nullptr;
  for (const Toolchain& candidate : *facts.toolchains.compilers) {
    if (!is_program(candidate) || !named(candidate, wish.toolchain) || !in_root(candidate, wish.root)) continue;
    if (best == nullptr || merit(candidate, targets) > merit(*best, targets)) best = &candidate;
  }
  if (best == nullptr && wished) return Error{0, "there is no " + asked + "; " + listing(*facts.toolchains.compilers)};
  return best;
}

}  // namespace sage
