#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doctor/checks/check.hpp"
#include "doctor/checks/scope.hpp"

namespace sage {

/// Where WSL mounts the libraries of Windows that serve Linux.
inline constexpr std::string_view windows_libraries = "/usr/lib/wsl/lib";

/// True where the GPU is behind /dev/dxg instead of KFD: WSL2 and Hyper-V guests with GPU-PV. False while the kind of
/// the platform is unknown.
[[nodiscard]] bool gpu_behind_dxg(const Facts& facts);

/// "Does not apply" where there never is a /dev/dxg. WSL1 is not meant: turned into WSL2 it has one.
[[nodiscard]] std::optional<Finding> skip_on_other_machines(const Facts& facts);

/// The skip of a row about WSL on a machine where such rows have nothing to say, or whose kind is unknown.
[[nodiscard]] std::optional<Finding> skip_off_wsl(const Facts& facts);

/// Also the skip when it is not known that /dev/dxg opens, or when it is known that no AMD GPU is behind it: then what
/// comes after (libraries, runtime, variables) has nothing to serve. That /dev/dxg did not tell its adapters is no
/// reason to skip: the rest of the way can be judged all the same.
[[nodiscard]] std::optional<Finding> skip_without_dxg(const Facts& facts);

/// Ways to get rid of a variable of the allow-list.
[[nodiscard]] std::vector<Remedy> remove_variable(const Facts& facts, std::string_view variable);

/// Adds the variable's value and each line of a start-up file that sets it.
void add_variable(const Facts& facts, std::string_view variable, Finding& finding);

/// A command that shows whether a GPU works: rocminfo where a ROCm folder is known to have one, else this check again.
[[nodiscard]] std::string verify_gpu_works(const Facts& facts, std::string_view check_id);

/// "wsl --shutdown" with this text.
[[nodiscard]] Remedy restart_wsl(std::string text);

/// Opens /etc/wsl.conf in an editor to remove `what` from it, then restarts WSL.
[[nodiscard]] Remedy edit_wsl_conf(std::string_view what);

/// A new Adrenalin in Windows.
[[nodiscard]] Remedy update_windows_driver();

/// "wsl --update", then "wsl --shutdown".
[[nodiscard]] Remedy update_wsl();

/// The flags that pass a GPU of WSL2, its two libraries and the variable of ROCm 7.1 to 7.12 into a container
/// (facts/wsl.md 2.7).
[[nodiscard]] Remedy pass_dxg_into_container();

}  // namespace sage
