#include "doctor/checks/as_root.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sage {
namespace {

constexpr std::string_view word = "sudo ";

// Where a shell takes the next word for the name of a program.
bool starts_a_command(std::string_view before) {
  constexpr auto openers = std::to_array<std::string_view>({"| ", "&& ", "; ", "$("});
  return before.empty() ||
         std::any_of(openers.begin(), openers.end(), [&](std::string_view opener) { return before.ends_with(opener); });
}

void leave_out_sudo(std::string& command) {
  for (std::size_t at = command.find(word); at != std::string::npos; at = command.find(word, at)) {
    if (starts_a_command(std::string_view(command).substr(0, at))) {
      command.erase(at, word.size());
    } else {
      at += word.size();
    }
  }
}

}  // namespace

bool types_as_root(const Platform& platform) {
  return platform.is_root.is(true) && platform.under_sudo.is(false);
}

void leave_out_sudo(Finding& finding) {
  for (Remedy& remedy : finding.remedies) {
    for (std::string& command : remedy.commands) leave_out_sudo(command);
    std::erase(remedy.needs, Need::sudo);
  }
  leave_out_sudo(finding.ask);
  leave_out_sudo(finding.verify);
}

void fit_commands_to_user(std::vector<Finding>& findings, const Platform& platform) {
  if (!types_as_root(platform)) return;
  for (Finding& finding : findings) leave_out_sudo(finding);
}

}  // namespace sage
