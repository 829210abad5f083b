#include "probes/host/path_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <vector>

#include "probes/base/text.hpp"
#include "probes/host/capture.hpp"

namespace sage {
namespace {

constexpr int most_links = 40;  // MAXSYMLINKS of Linux

/// Last part first, so that the next one is at the back; without empty parts and ".".
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace

Result<std::string> walk_path(const std::string& asked, const std::string& working_folder, Links last,
                              const LookAtPath& look) {
  if (asked.empty()) return system_error(ENOENT, asked);
  const std::string absolute = asked.starts_with('/') ? asked : working_folder + "/" + asked;
  const bool wants_folder = absolute.ends_with('/');
  std::vector<std::string> rest = parts_of(absolute);
  std::string here = "/";
  FileType type = FileType::directory;
  int links = 0;
  while (!rest.empty()) {
    if (type != FileType::directory) return system_error(ENOTDIR, asked);
    const std::string part = std::move(rest.back());
    rest.pop_back();
    if (part == "..") {
      if (here != "/") here = parent_path(here);
      continue;
    }
    std::string next = here == "/" ? "/" + part : here + "/" + part;
    const Result<PathLook> seen = look(next);
    if (!seen) return with_usual_text(seen.error(), asked);
    const bool follow = !rest.empty() || last == Links::follow || wants_folder;
    if (seen->type != FileType::symlink || !follow) {
      here = std::move(next);
      type = seen->type;
      continue;
    }
    if (++links > most_links) return system_error(ELOOP, asked);
    if (seen->target.empty()) return system_error(ENOENT, asked);
    if (seen->target.starts_with('/')) here = "/";
    std::vector<std::string> inserted = parts_of(seen->target);
    rest.insert(rest.end(), std::make_move_iterator(inserted.begin()), std::make_move_iterator(inserted.end()));
  }
  if (wants_folder && type != FileType::directory) return system_error(ENOTDIR, asked);
  return here;
}

}  // namespace sage
