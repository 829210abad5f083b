#include "doctor/toolchain/choice.hpp"

#include <algorithm>
#include <tuple>

#include "doctor/checks/scope.hpp"
#include "probes/base/nearest.hpp"
#include "probes/base/version.hpp"

namespace sage {
namespace {

/// 0: a compiler with a ROCm tree; 1: a bare clang; 2: a library.
int form_of(const Toolchain& compiler) {
  if (compiler.kind.is(CompilerKind::hiprtc)) return 2;
  if (compiler.kind.is(CompilerKind::comgr)) return 3;
  const bool bare = compiler.kind.is(CompilerKind::clang) && !compiler.origin.is(ToolchainOrigin::rocm_root) &&
                    !compiler.origin.is(ToolchainOrigin::rocm_sdk_wheel);
  return bare ? 1 : 0;
}

int verdict_order(CanBuild can) {
  switch (can) {
    case CanBuild::yes:
      return 0;
    case CanBuild::untried:
      return 1;
    case CanBuild::no:
      break;
  }
  return 2;
}

/// Extensions are built by hipcc; kernels rather by the clang itself, which no script stands before.
int kind_order(const Toolchain& compiler, BuildPurpose purpose) {
  const bool hipcc = compiler.kind.is(CompilerKind::hipcc);
  return (purpose == BuildPurpose::kernels) == hipcc ? 1 : 0;
}

/// The first two numbers.
std::vector<std::uint32_t> release_of(const std::string& text) {
  const auto version = parse_version(text);
  if (!version) return {};
  std::vector<std::uint32_t> parts = version->parts;
  parts.resize(2);
  return parts;
}

bool same_release(const std::string& a, const std::string& b) {
  const auto first = release_of(a);
  return !first.empty() && first == release_of(b);
}

}  // namespace

std::string rocm_of_torch(const Facts& facts) {
  if (!facts.python.environments.known() || facts.python.environments->empty()) return "";
  const auto& installs = facts.python.environments->front().torch;
  if (!installs.known() || installs->empty() || !installs->front().flavour.is(TorchFlavour::rocm)) return "";
  const TorchInstall& torch = installs->front();
  if (const auto rocm = torch.rocm.value_or(std::nullopt)) return *rocm;
  const std::string version = torch.version.value_or("");
  if (const std::size_t mark = version.find("+rocm"); mark != std::string::npos) return version.substr(mark + 5);
  return torch.hip.value_or(std::nullopt).value_or("");
}

std::string own_override(const Facts& facts) {
  if (uses_dxg(facts.platform.kind.value_or(PlatformKind::bare_metal))) return "";
  const auto value = facts.environment.get("HSA_OVERRIDE_GFX_VERSION");
  if (!value.known() || !value->has_value() || !target_of_override(**value)) return "";
  return **value;
}

std::string no_such_target(const std::string& target, const GfxTables& tables) {
  const std::vector<std::string> names = tables.target_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "there is no gfx target \"" + target + "\"" + did_you_mean(target, views);
}

std::string target_to_build_for(const Facts& facts) {
  std::string target;
  for (const Gpu& gpu : facts.gpus.amd.value_or({})) {
    if (!gpu.target.known()) continue;
    if (gpu.kind.is(GpuKind::discrete)) return *gpu.target;
    if (target.empty()) target = *gpu.target;
  }
  return target;
}

std::vector<RankedToolchain> rank_toolchains(const Facts& facts, const GfxTables& tables, std::string_view target,
                                             BuildPurpose purpose) {
  std::vector<RankedToolchain> ranked;
  if (!facts.toolchains.compilers.known()) return ranked;
  for (const Toolchain& compiler : *facts.toolchains.compilers) {
    ranked.push_back({&compiler, verdict_of(compiler, purpose, target, tables)});
  }
  const std::string rocm = rocm_of_torch(facts);
  const auto key = [&](const RankedToolchain& one) {
    const Toolchain& compiler = *one.compiler;
    return std::tuple(verdict_order(one.verdict.can), form_of(compiler),
                      same_release(compiler.rocm_version.value_or(""), rocm) ? 0 : 1,
                      compiler.trampoline.is(true) ? 1 : 0, kind_order(compiler, purpose));
  };
  std::stable_sort(ranked.begin(), ranked.end(), [&](const RankedToolchain& a, const RankedToolchain& b) {
    const auto first = key(a);
    const auto second = key(b);
    if (first != second) return first < second;
    return version_below(b.compiler->clang_version.value_or(""), a.compiler->clang_version.value_or(""));
  });
  return ranked;
}

const Toolchain* best_toolchain(const Facts& facts, const GfxTables& tables, std::string_view target,
                                BuildPurpose purpose) {
  const std::vector<RankedToolchain> ranked = rank_toolchains(facts, tables, target, purpose);
  const bool can = !ranked.empty() && ranked.front().verdict.can == CanBuild::yes;
  return can ? ranked.front().compiler : nullptr;
}

}  // namespace sage
