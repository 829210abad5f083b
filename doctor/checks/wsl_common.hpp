#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doctor/checks/check.hpp"
#include "doctor/checks/scope.hpp"

namespace sage {

inline constexpr std::uint32_t amd_vendor = 0x1002;

/// True where the GPU is behind /dev/dxg instead of KFD: WSL2 and Hyper-V guests with GPU-PV. False while the kind of
/// the platform is unknown.
[[nodiscard]] bool gpu_behind_dxg(const Facts& facts);

/// The skip of a row about WSL on a machine where such rows have nothing to say, or whose kind is unknown.
[[nodiscard]] std::optional<Finding> skip_off_wsl(const Facts& facts);

/// Also the skip when it is not known that /dev/dxg opens, or when it is known that no AMD GPU is behind it: then what
/// comes after (libraries, runtime, variables) has nothing to serve. That /dev/dxg did not tell its adapters is no
/// reason to skip: the rest of the way can be judged all the same.
[[nodiscard]] std::optional<Finding> skip_without_dxg(const Facts& facts);

/// True when the variable is known to be set, to whatever value.
[[nodiscard]] bool is_set(const Facts& facts, std::string_view variable);

/// Ways to get rid of a variable of the allow-list.
[[nodiscard]] std::vector<Remedy> remove_variable(const Facts& facts, std::string_view variable);

/// Adds the variable's value and each line of a start-up file that sets it.
void add_variable(const Facts& facts, std::string_view variable, Finding& finding);

/// "wsl --update", then "wsl --shutdown".
[[nodiscard]] Remedy update_wsl();

/// The flags that pass a GPU of WSL2 into a container (facts/wsl.md 2.7).
[[nodiscard]] Remedy pass_dxg_into_container();

}  // namespace sage
