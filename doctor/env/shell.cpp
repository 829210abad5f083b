#include "doctor/env/shell.hpp"

#include <utility>

namespace sage {
namespace {

constexpr auto programs = std::to_array<std::pair<std::string_view, Shell>>({
    {"ash", Shell::sh},
    {"busybox", Shell::sh},
    {"ksh", Shell::sh},
    {"ksh93", Shell::sh},
    {"lksh", Shell::sh},
    {"mksh", Shell::sh},
    {"rbash", Shell::bash},
    {"tcsh", Shell::csh},
    {"pwsh", Shell::powershell},
    {"dockerfile", Shell::docker},
});

}  // namespace

std::optional<Shell> shell_by_name(std::string_view name) {
  for (const auto& [shell, own_name] : enum_names<Shell>) {
    if (own_name == name) return shell;
  }
  for (const auto& [program, shell] : programs) {
    if (program == name) return shell;
  }
  return std::nullopt;
}

std::optional<Shell> shell_of_program(std::string_view path) {
  return shell_by_name(path.substr(path.rfind('/') + 1));
}

std::vector<std::string_view> shell_names() {
  std::vector<std::string_view> names;
  for (const auto& [shell, name] : enum_names<Shell>) names.push_back(name);
  for (const auto& [program, shell] : programs) names.push_back(program);
  return names;
}

}  // namespace sage
