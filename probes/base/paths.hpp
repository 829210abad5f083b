#pragma once

#include <string>
#include <string_view>

namespace sage {

/// The part after the last slash.
[[nodiscard]] std::string file_name(const std::string& path);

/// "/usr/bin" of "/usr/bin/gcc"; "/" at the top and for a text without a slash.
[[nodiscard]] std::string parent_folder(const std::string& path);

/// True for `folder` itself and everything below it.
[[nodiscard]] bool lies_in(const std::string& path, const std::string& folder);

/// A relative path that stays below where it starts: no empty part, no ".", no "..", no control characters.
[[nodiscard]] bool safe_relative_path(std::string_view path);

}  // namespace sage
