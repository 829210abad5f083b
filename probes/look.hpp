#pragma once

#include <string>
#include <vector>

#include "probes/base/fact.hpp"
#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// True for the errors that mean "there is no such thing", as opposed to "it could not be looked at".
[[nodiscard]] bool is_absent(const Error& error);

/// Whether something stands at `path`, links followed. Unknown when it could not be looked at.
[[nodiscard]] Fact<bool> exists(const Host& host, const std::string& path);

/// The contents without blanks and line ends around them: for the one-value files of /sys and /proc.
[[nodiscard]] Result<std::string> read_trimmed(const Host& host, const std::string& path);

/// Names in a folder; none when the folder does not exist.
[[nodiscard]] Result<std::vector<std::string>> list_if_there(const Host& host, const std::string& path);

}  // namespace sage
