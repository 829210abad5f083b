#include "probes/host/path_finder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

/// What find() says in one line: "path" or "path waits on mount".
std::string where(PathFinder& finder, const std::string& path, Links links = Links::follow) {
  const auto place = finder.find(path, links);
  if (!place.ok()) return errno_name(Errno{place.error().number});
  return place->waits_on.empty() ? place->path : place->path + " waits on " + place->waits_on;
}

}  // namespace

TEST_CASE("a path below a mount that may hang is never touched here") {
  PathFinder finder({{"/", "ext4"}, {"/no-such-folder-here", "tmpfs"}, {"/no-such-mount", "nfs4"}});
  // Neither exists: only the one that was looked at can tell.
  CHECK(where(finder, "/no-such-folder-here/file") == "ENOENT");
  CHECK(where(finder, "/no-such-mount/deep/file") == "/no-such-mount/deep/file waits on /no-such-mount");
  CHECK(where(finder, "/no-such-mount") == "/no-such-mount waits on /no-such-mount");
  CHECK(where(finder, "/no-such-mount", Links::keep) == "/no-such-mount waits on /no-such-mount");
  CHECK(where(finder, "/no-such-mount2") == "ENOENT");
  CHECK(where(finder, "/no-such-mount/../etc") == "/no-such-mount/../etc waits on /no-such-mount");
}

TEST_CASE("links into a mount that may hang are seen before they are followed") {
  const TemporaryFolder folder;
  const std::string mount = folder.path("mount");
  PathFinder finder({{"/", "ext4"}, {mount, "fuse.sshfs"}});
  folder.write("local/file", "");
  fs::create_symlink(mount + "/rocm", folder.path("local/rocm"));
  fs::create_symlink("../mount/deep", folder.path("local/relative"));
  fs::create_symlink("rocm", folder.path("local/twice"));
  fs::create_symlink(folder.path("local"), folder.path("alias"));

  CHECK(where(finder, folder.path("local/rocm/lib/x.so")) == mount + "/rocm/lib/x.so waits on " + mount);
  CHECK(where(finder, folder.path("local/relative")) == mount + "/deep waits on " + mount);
  CHECK(where(finder, folder.path("local/twice")) == mount + "/rocm waits on " + mount);
  CHECK(where(finder, folder.path("alias/twice/..")) == mount + "/rocm/.. waits on " + mount);
  CHECK(where(finder, folder.path("local/rocm"), Links::keep) == folder.path("local/rocm"));
  CHECK(where(finder, folder.path("alias/file")) == folder.path("local/file"));
  CHECK(where(finder, folder.path("local/../mount")) == mount + " waits on " + mount);
}

TEST_CASE("of two mounts at one point the upper one counts") {
  PathFinder automatic({{"/", "ext4"}, {"/no-such", "ext4"}, {"/no-such", "autofs"}});
  CHECK(where(automatic, "/no-such/x") == "/no-such/x waits on /no-such");
  PathFinder covered({{"/", "ext4"}, {"/no-such", "nfs"}, {"/no-such", "tmpfs"}});
  CHECK(where(covered, "/no-such/x") == "ENOENT");
}

TEST_CASE("a relative path starts at the working folder") {
  PathFinder finder({});
  CHECK(where(finder, ".") == fs::current_path());
  CHECK(where(finder, "..") == fs::current_path().parent_path());
}

TEST_CASE("links that multiply or grow without end are refused") {
  const TemporaryFolder folder;
  folder.write("0/file", "");
  // Each one passes twice through the one before: 2^50 steps for one who counts not.
  for (int i = 1; i <= 50; ++i) {
    const std::string before = std::to_string(i - 1);
    fs::create_symlink(before + "/../" + before, folder.path(std::to_string(i)));
  }
  fs::create_symlink(std::string(2000, '.') + "/grow", folder.path("dots"));
  fs::create_symlink("grow/" + std::string(3000, '/') + "x", folder.path("grow"));
  PathFinder finder({});
  CHECK(where(finder, folder.path("50/file")) == "ELOOP");
  CHECK(where(finder, folder.path("grow")) == "ELOOP");
  CHECK(where(finder, folder.path("dots")) == "ENAMETOOLONG");
}

}  // namespace sage
