#include "probes/python_paths.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

constexpr std::size_t most_parents = 64;

}  // namespace

std::vector<std::string> off_windows(const Host& host, std::vector<std::string> folders) {
  const auto mounts = host.mounts();
  if (!mounts) return folders;
  std::erase_if(folders, [&](const std::string& folder) {
    return std::any_of(mounts->begin(), mounts->end(), [&](const Mount& mount) {
      const bool windows = mount.filesystem == "9p" || mount.filesystem == "drvfs";
      return windows && mount.point.starts_with("/mnt/") && lies_in(folder, mount.point);
    });
  });
  return folders;
}

std::vector<std::string> upward(const std::string& folder) {
  std::vector<std::string> folders;
  std::string at = folder;
  while (at.starts_with('/') && folders.size() < most_parents) {
    folders.push_back(at);
    if (at == "/") break;
    at = parent_folder(at);
  }
  return folders;
}

}  // namespace sage
