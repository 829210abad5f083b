#include "doctor/build/install/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "probes/base/text.hpp"
#include "probes/host/file_calls.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  return file_calls::read_whole(path, Links::keep, 1 << 20).value_or("(unreadable)");
}

}  // namespace

TEST_CASE("a new file comes with the folders above it, and never in place of another") {
  const TemporaryFolder place;
  const std::string path = place.path() + "/a b/\xc3\xa4/file";
  CHECK_FALSE(write_new_file(path, "first"));
  CHECK(contents(path) == "first");
  const auto again = write_new_file(path, "second");
  REQUIRE(again);
  CHECK(again->number == EEXIST);
  CHECK(contents(path) == "first");
}

TEST_CASE("a new file is not written through a link that lies in its place") {
  const TemporaryFolder place;
  const std::string elsewhere = place.write("elsewhere", "untouched");
  REQUIRE(symlink(elsewhere.c_str(), (place.path() + "/file").c_str()) == 0);
  CHECK(write_new_file(place.path() + "/file", "x"));
  CHECK(contents(elsewhere) == "untouched");
}

TEST_CASE("replacing swaps the whole file and leaves nothing beside it") {
  const TemporaryFolder place;
  const std::string path = place.write("file", "old");
  CHECK_FALSE(replace_file(path, "new"));
  CHECK(contents(path) == "new");
  CHECK(std::distance(fs::directory_iterator(place.folder()), {}) == 1);
}

TEST_CASE("a file in the place of a folder is named in the error") {
  const TemporaryFolder place;
  const std::string file = place.write("file", "");
  const auto error = make_folders(file + "/below");
  REQUIRE(error);
  CHECK(error->number == ENOTDIR);
  CHECK(contains(error->text, "cannot make the folder " + file + ": "));
  CHECK(contains(error->text, "choose another folder"));
}

TEST_CASE("a full disk is told with a way out, and the file that was there stays") {
  const auto error = write_error(ENOSPC, "write /data/x");
  CHECK(error.number == ENOSPC);
  CHECK(error.text.starts_with("cannot write /data/x: no space left on device; free some space"));
  // The device that is always full.
  REQUIRE(fs::exists("/dev/full"));
  const TemporaryFolder place;
  const std::string path = place.write("file", "old");
  REQUIRE(symlink("/dev/full", (path + ".new-" + std::to_string(getpid())).c_str()) == 0);
  CHECK_FALSE(replace_file(path, "new"));  // a link in the way is removed, not written through
  CHECK(contents(path) == "new");
}

TEST_CASE("removing a tree does not follow links out of it") {
  const TemporaryFolder place;
  const std::string kept = place.write("kept/file", "x");
  place.write("tree/deep/file", "y");
  REQUIRE(symlink((place.path() + "/kept").c_str(), (place.path() + "/tree/link").c_str()) == 0);
  CHECK_FALSE(remove_tree(place.path() + "/tree"));
  CHECK_FALSE(fs::exists(place.folder() / "tree"));
  CHECK(contents(kept) == "x");
  CHECK_FALSE(remove_tree(place.path() + "/tree"));
}

TEST_CASE("names of versions have no way out of their folder") {
  CHECK(safe_name("0.1.0-20261201T030000Z+gfx1201"));
  for (const std::string_view bad : {"", ".", "..", ".hidden", "a/b", "a b", "a\n"})
    CHECK_MESSAGE(!safe_name(bad), bad);
  CHECK_FALSE(safe_name(std::string(129, 'a')));
}

}  // namespace sage
