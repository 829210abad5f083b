#pragma once

#include <string>

namespace sage {

/// The part after the last slash.
[[nodiscard]] std::string file_name(const std::string& path);

/// "/usr/bin" of "/usr/bin/gcc"; "/" at the top and for a text without a slash.
[[nodiscard]] std::string parent_folder(const std::string& path);

/// True for `folder` itself and everything below it.
[[nodiscard]] bool lies_in(const std::string& path, const std::string& folder);

}  // namespace sage
