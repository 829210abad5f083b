#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// Where a path leads.
struct Place {
  /// Without symbolic links when `waits_on` is empty; else as far as the mount, the rest as it was written.
  std::string path;
  /// Mount point of the filesystem that may hang, which holds or leads to the file; empty: all of it is local.
  std::string waits_on;
};

/// Resolves paths without ever touching a filesystem that may hang.
class PathFinder {
 public:
  explicit PathFinder(const std::vector<Mount>& mounts);

  /// Errors as of open(2): ENOENT, ENOTDIR, EACCES, ELOOP (more than 40 links), ENAMETOOLONG, EINVAL (a zero byte).
  /// A relative path starts at the working folder. With Links::keep a link at the very end stands for itself.
  [[nodiscard]] Result<Place> find(const std::string& path, Links links);

 private:
  [[nodiscard]] Result<Place> find_absolute(const std::string& path, Links links, int& links_left);
  [[nodiscard]] Result<Place> find_folder(const std::string& path, int& links_left);

  std::unordered_map<std::string, bool> mount_waits_;  ///< mount point -> may hang
  std::unordered_map<std::string, Place> folders_;     ///< folders found so far
};

}  // namespace sage
