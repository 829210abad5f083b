#pragma once

#include <array>
#include <string>
#include <string_view>

#include "doctor/checks/finding.hpp"
#include "probes/base/enum_names.hpp"
#include "probes/facts/toolchains.hpp"
#include "probes/gfx_tables.hpp"

namespace sage {

/// What somebody wants of a compiler, each asking for more than the one before.
enum class BuildPurpose {
  kernels,       ///< freestanding code with our flags: no headers, no device libraries
  hip_programs,  ///< code that includes hip/hip_runtime.h
  extensions,    ///< code that includes PyTorch's headers, and through them those of ROCm's libraries
};

template <>
inline constexpr auto enum_names<BuildPurpose> = std::to_array<EnumName<BuildPurpose>>({
    {BuildPurpose::kernels, "kernels"},
    {BuildPurpose::hip_programs, "hip-programs"},
    {BuildPurpose::extensions, "extensions"},
});

/// `untried`: neither the files nor the tables decide it; --deep tries.
enum class CanBuild { yes, no, untried };

template <>
inline constexpr auto enum_names<CanBuild> = std::to_array<EnumName<CanBuild>>({
    {CanBuild::yes, "yes"},
    {CanBuild::no, "no"},
    {CanBuild::untried, "untried"},
});

struct Verdict {
  CanBuild can = CanBuild::untried;
  std::string reason;  ///< half a sentence in lower case: "clang 15 does not know gfx1201, which came with 18"
  Confidence confidence = Confidence::possible;
};

/// Whether `compiler` builds code of this kind for `target` ("gfx1201", a generic target, or "sm_90"), by its files and
/// the tables. Pure; nothing is run. Sources: facts/gfx.md 1, facts/kernels.md 9c and 10, facts/wheels.md 2.4 and 2.11.
[[nodiscard]] Verdict verdict_of(const Toolchain& compiler, BuildPurpose purpose, std::string_view target,
                                 const GfxTables& tables);

}  // namespace sage
