#pragma once

#include <functional>
#include <string>

#include "probes/host/host.hpp"

namespace sage {

/// What stands at one path, not following a link there.
struct PathLook {
  FileType type = FileType::regular;
  std::string target;  ///< of a symlink
};

/// Answers for one path whose folders are already resolved. Its errors end the walk.
using LookAtPath = std::function<Result<PathLook>(const std::string& path)>;

/// Follows `asked` part by part from "/" (or from `working_folder`) as path_resolution(7) says: symlinks on the way are
/// followed, at most 40; one at the very end too, unless `last` is Links::keep. Gives the path without links. An Error
/// names `asked`: those of the kernel (ENOENT for an empty path, ENOTDIR, ELOOP) and those of `look`, where an empty
/// text stands for the usual one.
[[nodiscard]] Result<std::string> walk_path(const std::string& asked, const std::string& working_folder, Links last,
                                            const LookAtPath& look);

}  // namespace sage
