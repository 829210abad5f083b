#include "probes/host/mounts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t most_mounts = 100'000;

// Sorted. "fuse.<program>" is in addition (fuse.sshfs, fuse.lxcfs).
constexpr auto waiting_filesystems = std::to_array<std::string_view>({
    "9p",    "acfs",    "afs",   "autofs", "beegfs", "ceph",   "cifs",     "coda",   "drvfs",
    "fuse",  "fuseblk", "gfs2",  "gpfs",   "lustre", "nfs",    "nfs4",     "ocfs2",  "orangefs",
    "panfs", "prl_fs",  "pvfs2", "smb3",   "smbfs",  "vboxsf", "virtiofs", "vmhgfs", "wekafs",
});
static_assert(std::is_sorted(waiting_filesystems.begin(), waiting_filesystems.end()));

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

/// Blank, tab, line end and backslash stand as \040 and so on.
std::string unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3' &&
                         is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escaped) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

}  // namespace

Result<std::vector<Mount>> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  for (const std::string_view line : lines(text)) {
    // id parent major:minor root POINT options [optional fields] - TYPE source super-options
    const std::vector<std::string_view> parts = words(line);
    if (parts.size() < 7) continue;
    const auto dash = std::find(parts.begin() + 6, parts.end(), "-");
    if (dash == parts.end() || dash + 1 == parts.end()) continue;
    std::string point = unescape(parts[4]);
    if (point.empty() || point[0] != '/' || point.find('\0') != std::string::npos) continue;
    if (mounts.size() == most_mounts) return Error{EFBIG, "/proc/self/mountinfo: more than 100,000 mounts"};
    mounts.push_back({std::move(point), unescape(*(dash + 1))});
  }
  return mounts;
}

bool may_hang(const Mount& mount) {
  // Our own program and libc come from "/": when that hangs, so do we, whatever its type.
  if (mount.point == "/") return false;
  // An overlay by its type, but its lower folder is a 9p share of the Windows host (facts/wsl.md 2.6).
  if (mount.point == "/usr/lib/wsl/lib") return true;
  return mount.filesystem.starts_with("fuse.") ||
         std::binary_search(waiting_filesystems.begin(), waiting_filesystems.end(), std::string_view(mount.filesystem));
}

}  // namespace sage
