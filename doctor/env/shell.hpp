#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/enum_names.hpp"

namespace sage {

/// The languages that an environment can be written in.
enum class Shell { sh, bash, dash, zsh, fish, csh, powershell, dotenv, github, docker, json, modulefile };

template <>
inline constexpr auto enum_names<Shell> = std::to_array<EnumName<Shell>>({
    {Shell::sh, "sh"},
    {Shell::bash, "bash"},
    {Shell::dash, "dash"},
    {Shell::zsh, "zsh"},
    {Shell::fish, "fish"},
    {Shell::csh, "csh"},
    {Shell::powershell, "powershell"},
    {Shell::dotenv, "dotenv"},
    {Shell::github, "github"},
    {Shell::docker, "docker"},
    {Shell::json, "json"},
    {Shell::modulefile, "modulefile"},
});

/// By the name of the language or of a program that speaks it ("tcsh", "mksh", "pwsh"); nullopt for others.
[[nodiscard]] std::optional<Shell> shell_by_name(std::string_view name);

/// The language of a program such as $SHELL names: "/usr/bin/fish". nullopt when it is none of ours, or `path` is
/// empty.
[[nodiscard]] std::optional<Shell> shell_of_program(std::string_view path);

/// Every name that shell_by_name() knows, languages first.
[[nodiscard]] std::vector<std::string_view> shell_names();

}  // namespace sage
