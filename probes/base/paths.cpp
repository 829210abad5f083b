#include "probes/base/paths.hpp"

namespace sage {

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

}  // namespace sage
