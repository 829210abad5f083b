#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/environment.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// How a start-up file is written.
enum class StartupSyntax {
  script,  ///< sh, bash, zsh, fish or csh commands
  list,    ///< one NAME=value a line, blanks in the value allowed: /etc/environment, environment.d
};

struct StartupFile {
  std::string path;
  StartupSyntax syntax = StartupSyntax::script;
};

/// A variable and the text that a line gives it: quotes removed, nothing expanded.
struct NamedValue {
  std::string name;
  std::string value;

  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};

/// True for the variables that are looked for in start-up files: those that steer ROCm, HIP, PyTorch and the loader.
/// What a session sets by itself (HOME, PATH, SUDO_UID, VIRTUAL_ENV ...) is not.
[[nodiscard]] bool looked_for_in_startup_files(std::string_view name);

/// What one line of a start-up file sets, of the variables that are looked for. A prefix of a command
/// (`NAME=value python x.py`) sets nothing that lasts.
[[nodiscard]] std::vector<NamedValue> assignments_in_line(std::string_view line, StartupSyntax syntax);

/// The files that shells, pam_env and systemd read when this user's session starts, whether they exist or not.
/// Files of a *.d folder that can't be listed are left out; `error` then says why.
[[nodiscard]] std::vector<StartupFile> startup_files(const Host& host, std::optional<Error>& error);

/// The text with the assignments that are looked for and nothing else, on the same lines: for a capture, since these
/// files may hold secrets. Reading the result gives what reading `text` gives.
[[nodiscard]] std::string only_looked_for(std::string_view text, StartupSyntax syntax);

/// Every assignment by variable, in the order of files and lines; and the first error that kept a file from being read.
struct StartupAssignments {
  std::map<std::string, std::vector<Assignment>, std::less<>> by_name;
  std::optional<Error> error;
};

[[nodiscard]] StartupAssignments probe_startup_files(const Host& host);

}  // namespace sage
