#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/checks/finding.hpp"
#include "probes/facts/devices.hpp"
#include "probes/facts/environment.hpp"
#include "probes/facts/gpus.hpp"

namespace sage {

/// "AMD Radeon RX 9070 XT (0000:03:00.0)", or just the id when the name is unknown.
[[nodiscard]] std::string gpu_label(const Gpu& gpu);

/// "AMD Radeon RX 9070 XT", or "AMD GPU 1002:7550" when the name is unknown.
[[nodiscard]] std::string gpu_name(const Gpu& gpu);

/// "AMD Radeon RX 9070 XT (gfx1201)"; the target is not said twice where it is part of the name.
[[nodiscard]] std::string name_and_target(const Gpu& gpu);

/// "1 GPU", "2 GPUs".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// A word that any POSIX shell reads back unchanged; quoted only when it must be.
[[nodiscard]] std::string shell_word(std::string_view text);

/// True below a folder of homes: the user's own files, which need no sudo.
[[nodiscard]] bool in_home_folder(std::string_view path);

/// Opens `file` at `line` in the user's editor; with sudo when the file lies outside the home folders.
[[nodiscard]] std::string edit_command(const std::string& file, std::uint32_t line);

/// "owner 0, group 992, mode 0660".
[[nodiscard]] std::string owner_and_mode(const DeviceNode& node);

/// At most `limit` log lines as evidence from "kernel log", the newest.
[[nodiscard]] std::vector<Evidence> log_evidence(const std::vector<std::string>& lines, std::size_t limit = 4);

/// The variable as it is set now, then every line of a start-up file that sets it.
[[nodiscard]] std::vector<Evidence> variable_evidence(const Variable& variable);

/// How to get rid of variables: `unset` for this shell, and the lines of start-up files that set them.
[[nodiscard]] Remedy unset_remedy(const std::vector<const Variable*>& variables);

/// Where the value comes from, for a remedy that changes it: " It is set in /home/u/.bashrc line 12." or nothing.
[[nodiscard]] std::string set_where(const Variable& variable);

}  // namespace sage
