#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/toolchain/verdict.hpp"
#include "probes/facts/facts.hpp"

namespace sage {

/// A compiler with its verdict, in the order of preference.
struct RankedToolchain {
  const Toolchain* compiler = nullptr;  ///< into facts
  Verdict verdict;
};

/// Every compiler of `facts` for this purpose and target, the best first: those that can before the untried before those
/// that can't; then one with a ROCm tree around it before a bare clang before a library; then the ROCm release that the
/// PyTorch in use was made with; then a real program before a trampoline; then the newest. Empty while they are unknown.
[[nodiscard]] std::vector<RankedToolchain> rank_toolchains(const Facts& facts, const GfxTables& tables,
                                                           std::string_view target, BuildPurpose purpose);

/// The first of rank_toolchains() when it can build; nullptr when none can.
[[nodiscard]] const Toolchain* best_toolchain(const Facts& facts, const GfxTables& tables, std::string_view target,
                                              BuildPurpose purpose);

/// The ROCm release that the PyTorch in use was made with, "7.2" or "7.14.0"; empty when unknown or no ROCm build.
[[nodiscard]] std::string rocm_of_torch(const Facts& facts);

/// The target to build for: of the discrete GPU, else of the first whose target is known; empty when there is none.
[[nodiscard]] std::string target_to_build_for(const Facts& facts);

/// HSA_OVERRIDE_GFX_VERSION as the user has set it, where it has an effect: not under WSL, not in a wrong form.
/// Empty: none.
[[nodiscard]] std::string own_override(const Facts& facts);

/// "there is no gfx target "gfx1202" (did you mean 'gfx1102'?)"
[[nodiscard]] std::string no_such_target(const std::string& target, const GfxTables& tables);

}  // namespace sage
