#include "probes/host/mounts.hpp"

#include <doctest/doctest.h>

#include <cerrno>

namespace sage {
namespace {

std::vector<std::string> points(std::string_view text) {
  std::vector<std::string> points;
  for (const Mount& mount : parse_mountinfo(text).value_or({})) points.push_back(mount.point + "=" + mount.filesystem);
  return points;
}

}  // namespace

TEST_CASE("mount points and types are read, whatever optional fields stand between") {
  CHECK(points("26 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
               "30 26 0:30 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync\n"
               "31 26 0:31 / /a rw shared:2 master:3 propagate_from:4 - nfs4 server:/x rw\n") ==
        std::vector<std::string>{"/=ext4", "/mnt/c=9p", "/a=nfs4"});
}

TEST_CASE("escaped characters of a mount point are restored") {
  CHECK(points("1 1 0:1 / /with\\040blank\\011tab\\134slash rw - ext4 d rw") ==
        std::vector<std::string>{"/with blank\ttab\\slash=ext4"});
  CHECK(points("1 1 0:1 / /odd\\04 rw - ext4 d rw") == std::vector<std::string>{"/odd\\04=ext4"});
  CHECK(points("1 1 0:1 / /odd\\999 rw - ext4 d rw") == std::vector<std::string>{"/odd\\999=ext4"});
  CHECK(points("1 1 0:1 / /high\\777 rw - ext4 d rw") == std::vector<std::string>{"/high\\777=ext4"});
}

TEST_CASE("lines that are no mounts are left out") {
  CHECK(points("").empty());
  CHECK(points("garbage\n\n- - - - - - - -\n").empty());
  CHECK(points("1 1 0:1 / /a rw shared:1 ext4 d rw").empty());
  CHECK(points("1 1 0:1 / /a rw -").empty());
  CHECK(points("1 1 0:1 / /a rw - ").empty());
  CHECK(points("1 1 0:1 / relative rw - ext4 d rw").empty());
  CHECK(points("1 1 0:1 / /zero\\000byte rw - ext4 d rw").empty());
  CHECK(points(std::string("\0\1\2", 3)).empty());
}

TEST_CASE("a mount table without end is refused") {
  std::string text;
  for (int i = 0; i < 100'001; ++i) text += "1 1 0:1 / /a rw - t d rw\n";
  CHECK(parse_mountinfo(text).error().number == EFBIG);
}

TEST_CASE("filesystems that wait for somebody else are known") {
  for (const std::string type : {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse", "fuse.sshfs", "fuseblk", "autofs",
                                 "lustre", "ceph", "virtiofs", "drvfs", "wekafs"}) {
    CHECK_MESSAGE(may_hang({"/mnt/x", type}), type);
  }
  for (const std::string type :
       {"ext4", "overlay", "tmpfs", "proc", "sysfs", "devtmpfs", "btrfs", "xfs", "fusectl", ""}) {
    CHECK_MESSAGE(!may_hang({"/mnt/x", type}), type);
  }
  CHECK_FALSE(may_hang({"/", "nfs4"}));
  CHECK(may_hang({"/usr/lib/wsl/lib", "overlay"}));
}

}  // namespace sage
