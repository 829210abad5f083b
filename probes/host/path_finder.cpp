#include "probes/host/path_finder.hpp"

// A stat on a dead NFS server, an unplugged 9p share or a stuck FUSE daemon blocks for ever and can't be cancelled, so
// such mounts are touched only in a child. The kernel's path walk would step into one unnoticed through a symbolic link
// ("/opt/rocm -> /nfs/rocm"), and no flag of openat2(2) says "only these mounts" (RESOLVE_NO_XDEV would also refuse
// /proc and /sys). So the walk is done here: component by component, each name compared with the mount table before the
// kernel sees it, links read by readlink(2), which follows nothing. Names on a path without links determine its mount
// exactly.
//
// It stays cheap since each folder is walked once: a further file in a known folder costs one readlink(2), about a
// microsecond. Someone who replaces a folder by a link during the run can make this wrong, and then only wait longer.

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>

#include "probes/base/errno_name.hpp"
#include "probes/host/file_calls.hpp"
#include "probes/host/mounts.hpp"

namespace sage {
namespace {

constexpr int most_links = 40;  // as the kernel

Error reason(int number) {
  return {number, errno_text(Errno{number})};
}

std::string below(const std::string& folder, std::string_view name) {
  std::string path = folder == "/" ? "" : folder;
  path += '/';
  path += name;
  return path;
}

std::string parent_of(const std::string& canonical) {
  const std::size_t slash = canonical.rfind('/');
  return slash == 0 ? "/" : canonical.substr(0, slash);
}

}  // namespace

PathFinder::PathFinder(const std::vector<Mount>& mounts) {
  for (const Mount& mount : mounts) mount_waits_[mount.point] = may_hang(mount);
}

Result<Place> PathFinder::find(const std::string& path, Links links) {
  if (path.empty()) return reason(ENOENT);
  if (path.find('\0') != std::string::npos) return Error{EINVAL, "a zero byte in the path"};
  int links_left = most_links;
  if (path[0] == '/') return find_absolute(path, links, links_left);
  const std::unique_ptr<char, void (*)(void*)> folder(getcwd(nullptr, 0), std::free);
  if (!folder) return reason(errno);
  return find_absolute(below(folder.get(), path), links, links_left);
}

Result<Place> PathFinder::find_folder(const std::string& path, int& links_left) {
  if (const auto known = folders_.find(path); known != folders_.end()) return known->second;
  auto place = find_absolute(path, Links::follow, links_left);
  if (place.ok()) folders_.emplace(path, *place);
  return place;
}

Result<Place> PathFinder::find_absolute(const std::string& path, Links links, int& links_left) {
  if (path.size() >= PATH_MAX) return reason(ENAMETOOLONG);
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string::npos) return Place{"/", ""};
  const std::size_t slash = path.rfind('/', last);
  const std::string name = path.substr(slash + 1, last - slash);

  const auto folder = find_folder(slash == 0 ? "/" : path.substr(0, slash), links_left);
  if (!folder.ok()) return folder;
  if (!folder->waits_on.empty()) return Place{below(folder->path, name), folder->waits_on};
  if (name == ".") return folder;
  if (name == "..") return Place{parent_of(folder->path), ""};

  Place place{below(folder->path, name), ""};
  if (const auto mount = mount_waits_.find(place.path); mount != mount_waits_.end() && mount->second) {
    place.waits_on = place.path;
    return place;
  }
  if (links == Links::keep) return place;
  const auto target = file_calls::link_text(place.path);
  if (!target.ok() && target.error().number == EINVAL) return place;  // exists and is no link
  if (!target.ok()) return target.error();
  if (links_left-- == 0) return reason(ELOOP);
  if (target->empty()) return reason(ENOENT);
  return find_absolute((*target)[0] == '/' ? *target : below(folder->path, *target), links, links_left);
}

}  // namespace sage
