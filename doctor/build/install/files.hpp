#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "probes/base/result.hpp"

// Writing, so that what was written is there after a power cut too. nullopt: done. Errors name what was tried, the
// path, the reason, and what to do where that can be told (full disk, read-only, not ours).

namespace sage {

/// "cannot write /data/x: no space left on device: free some space there, or choose another folder with --prefix".
[[nodiscard]] Error write_error(int number, const std::string& what);

/// The folder and those above it that are missing, 0777 as far as the umask lets. One that is there is fine.
[[nodiscard]] std::optional<Error> make_folders(const std::string& path);

/// A file that is not there yet, with the folders above it. Not yet on the disk: see sync_tree().
[[nodiscard]] std::optional<Error> write_new_file(const std::string& path, std::string_view bytes,
                                                  unsigned mode = 0666);

/// A file as a whole, whether there is one or not: written beside it under the name ".new-<pid>", put on the disk,
/// moved. Whoever reads sees the old one or the new one.
[[nodiscard]] std::optional<Error> replace_file(const std::string& path, std::string_view bytes);

/// The folder's entries are on the disk.
[[nodiscard]] std::optional<Error> sync_folder(const std::string& path);

/// The folder, every regular file and every folder in it are on the disk. Symbolic links are not followed.
[[nodiscard]] std::optional<Error> sync_tree(const std::string& folder);

/// The folder with all that is in it; links are removed, not followed. One that is not there is fine.
[[nodiscard]] std::optional<Error> remove_tree(const std::string& folder);

/// One part of a path in letters, digits and ._+-, not beginning with a dot, of at most 128 characters.
[[nodiscard]] bool safe_name(std::string_view name);

}  // namespace sage
