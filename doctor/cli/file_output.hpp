#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "probes/base/result.hpp"

namespace sage {

/// Writes a whole file or nothing: beside `path` first, then moved there. A file that is there keeps its mode and is
/// untouched until the move; a new one gets 0644 as far as the umask lets. Through a symbolic link the file behind it is
/// replaced. nullopt: done.
[[nodiscard]] std::optional<Error> write_file(const std::string& path, std::string_view text);

}  // namespace sage
