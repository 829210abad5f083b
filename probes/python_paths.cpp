#include "probes/python_paths.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t most_path_folders = 128;
constexpr std::size_t most_parents = 64;

bool below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

}  // namespace

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

bool is_folder(const Host& host, const std::string& path) {
  const auto status = host.status(path);
  return status.ok() && status->type == FileType::directory;
}

std::string variable(const Host& host, const std::string& name) {
  const auto variables = host.environment();
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

std::vector<std::string> path_folders(const std::string& list) {
  std::vector<std::string> folders;
  for (const std::string_view part : split(list, ':')) {
    std::string folder(part);
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    if (folder.starts_with('/') && folders.size() < most_path_folders) folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<std::string> off_windows(const Host& host, std::vector<std::string> folders) {
  const auto mounts = host.mounts();
  if (!mounts) return folders;
  std::erase_if(folders, [&](const std::string& folder) {
    return std::any_of(mounts->begin(), mounts->end(), [&](const Mount& mount) {
      const bool windows = mount.filesystem == "9p" || mount.filesystem == "drvfs";
      return windows && mount.point.starts_with("/mnt/") && below(folder, mount.point);
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
    at = parent(at);
  }
  return folders;
}

}  // namespace sage
