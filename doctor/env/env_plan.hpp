#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/enum_names.hpp"

namespace sage {

/// How much of a ROCm the environment can offer.
enum class Tier {
  compiler_root,  ///< a tree with a compiler, HIP headers and device libraries
  bare_clang,     ///< a clang with an AMDGPU target and nothing of ROCm around it
  runtime_only,   ///< programs can run, nothing here can compile for the GPU
};

template <>
inline constexpr auto enum_names<Tier> = std::to_array<EnumName<Tier>>({
    {Tier::compiler_root, "compiler-root"},
    {Tier::bare_clang, "bare-clang"},
    {Tier::runtime_only, "runtime-only"},
});

enum class SettingKind { set, prepend };

template <>
inline constexpr auto enum_names<SettingKind> = std::to_array<EnumName<SettingKind>>({
    {SettingKind::set, "set"},
    {SettingKind::prepend, "prepend"},
});

/// A variable that a plan may set, and how.
struct PlannedVariable {
  std::string_view name;
  SettingKind kind = SettingKind::set;
};

/// All of them. Languages that can't look a variable up by its name (csh) take each of these back.
inline constexpr auto planned_variables = std::to_array<PlannedVariable>({
    {"ROCM_PATH", SettingKind::set},
    {"HIP_PATH", SettingKind::set},
    {"HIP_DEVICE_LIB_PATH", SettingKind::set},
    {"PATH", SettingKind::prepend},
    {"LD_LIBRARY_PATH", SettingKind::prepend},
    {"ROCM_HOME", SettingKind::set},
    {"PYTORCH_ROCM_ARCH", SettingKind::set},
    {"MAX_JOBS", SettingKind::set},
    {"HSA_ENABLE_DXG_DETECTION", SettingKind::set},
    {"TRITON_LIBHIP_PATH", SettingKind::set},
    {"HSA_OVERRIDE_GFX_VERSION", SettingKind::set},
});

/// One variable and what is to become of it.
struct EnvSetting {
  std::string variable;
  SettingKind kind = SettingKind::set;
  std::vector<std::string> values;  ///< of `set` just one; of `prepend` folders, the foremost first
  std::string why;                  ///< one sentence, the comment beside it
  std::optional<std::string> kept;  ///< the user's own value: it stays, and the setting is only told

  friend bool operator==(const EnvSetting&, const EnvSetting&) = default;
};

/// What `sage-doctor env` prints, in whatever language.
struct EnvPlan {
  Tier tier = Tier::runtime_only;
  std::string root;         ///< the ROCm tree; empty: none
  std::string description;  ///< "/opt/rocm-7.2.0/bin/hipcc, ROCm 7.2.0"
  std::string mark;         ///< the fingerprint of the facts (doctor/env/fingerprint)
  bool force = false;       ///< settings win over values of the user's own
  std::vector<EnvSetting> settings;
  std::vector<std::string> notes;   ///< sentences for the header
  std::vector<std::string> mended;  ///< findings that are gone in this environment: "wsl.dxg-detection-off (subject)"
};

/// The variable that holds the mark of the environment that is active.
inline constexpr auto mark_variable = "SAGE_DOCTOR_ENV";

}  // namespace sage
