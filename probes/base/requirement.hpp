#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sage {

/// "rocm-sdk-core" of "rocm_sdk_core" and "ROCm.SDK.core": how names of Python distributions are compared (PEP 503).
[[nodiscard]] std::string normalised_name(std::string_view name);

/// The normalised name in front of extras and version: "rocm" of "rocm[libraries]==7.10.0" (PEP 508).
[[nodiscard]] std::string needed_name(std::string_view requirement);

/// Whether `version` meets a requirement with exactly one clause `==X` or `==X.*` (PEP 440): numbers missing at the end
/// are 0, and a local part counts only when the requirement has one. nullopt for every other form.
[[nodiscard]] std::optional<bool> meets_requirement(std::string_view requirement, std::string_view version);

}  // namespace sage
