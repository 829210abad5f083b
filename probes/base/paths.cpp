#include "probes/base/paths.hpp"

#include <algorithm>

#include "probes/base/text.hpp"

namespace sage {
namespace {

bool control_character(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

bool lies_in(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

bool safe_relative_path(std::string_view path) {
  if (path.size() > 1024 || std::any_of(path.begin(), path.end(), control_character)) return false;
  const auto parts = split(path, '/');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return !part.empty() && part.size() <= 255 && part != "." && part != "..";
  });
}

}  // namespace sage
