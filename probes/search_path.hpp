#pragma once

#include <string>
#include <vector>

#include "probes/base/fact.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The value of an allow-listed variable; empty when it is not set.
[[nodiscard]] std::string variable_of(const Host& host, const std::string& name);

/// The absolute folders of a list like PATH, at most 128, without slashes at their ends.
[[nodiscard]] std::vector<std::string> path_folders(const std::string& list);

/// The absolute folders of PATH in their order, at most 128; none when it is not set.
[[nodiscard]] std::vector<std::string> search_path(const Host& host);

/// What a shell finds by a plain name: the first file of that name in PATH; empty when there is none. Unknown when PATH
/// is not set. Whether it may be executed is not asked.
[[nodiscard]] Fact<std::string> find_in_path(const Host& host, const std::string& name);

/// True when `path` leads to a regular file.
[[nodiscard]] bool is_file(const Host& host, const std::string& path);

/// True when `path` leads to a folder.
[[nodiscard]] bool is_folder(const Host& host, const std::string& path);

/// The first of `paths` that leads to a regular file; empty when none does.
[[nodiscard]] std::string first_file(const Host& host, const std::vector<std::string>& paths);

}  // namespace sage
