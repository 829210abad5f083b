#include "doctor/build/install/store.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <set>

#include "doctor/build/install/files.hpp"
#include "probes/base/text.hpp"
#include "probes/host/file_calls.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

Store opened(const std::string& prefix) {
  Result<Store> store = Store::open(prefix, 0);
  REQUIRE_MESSAGE(store.ok(), store.error().text);
  return *std::move(store);
}

StoreLock locked(const Store& store) {
  Result<StoreLock> lock = store.lock([](const std::string&) { return false; });
  REQUIRE_MESSAGE(lock.ok(), lock.error().text);
  return std::move(lock).value();
}

Published published(const Store& store, const StoreLock& lock, const std::string& name,
                    const std::string& text = "{}") {
  const Result<std::string> stage = store.stage(lock);
  REQUIRE_MESSAGE(stage.ok(), stage.error().text);
  REQUIRE_FALSE(write_new_file(*stage + "/manifest.json", text));
  const Result<Published> done = store.publish(lock, *stage, name);
  REQUIRE_MESSAGE(done.ok(), done.error().text);
  return *done;
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

/// Runs `act` in a child and returns its exit status; 200 when a signal ended it.
template <class Act>
int in_child(Act act) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

}  // namespace

TEST_CASE("a prefix is made with the folders above it, whatever letters are in it") {
  const TemporaryFolder place;
  const Store store = opened(place.path() + "/a b/\xc3\xbc\xe2\x82\xac/sage-doctor/");
  CHECK(store.prefix() == place.path() + "/a b/\xc3\xbc\xe2\x82\xac/sage-doctor");
  CHECK(fs::is_directory(store.cache_folder()));
  CHECK_FALSE(store.current());
}

TEST_CASE("a prefix that can't be is refused with the way out") {
  const TemporaryFolder place;
  const Result<Store> none = Store::open("");
  REQUIRE_FALSE(none.ok());
  CHECK(contains(none.error().text, "HOME"));

  const Result<Store> file = Store::open(place.write("file", ""));
  REQUIRE_FALSE(file.ok());
  CHECK(file.error().number == ENOTDIR);
  CHECK(contains(file.error().text, "it is no folder"));
  CHECK(contains(file.error().text, "--prefix"));

  const Result<Store> below = Store::open(place.path() + "/file/below");
  REQUIRE_FALSE(below.ok());
  CHECK(contains(below.error().text, "--prefix"));

  const Result<Store> full = Store::open(place.path() + "/room", ~std::uint64_t{0});
  REQUIRE_FALSE(full.ok());
  CHECK(full.error().number == ENOSPC);
  CHECK(contains(full.error().text, "are needed"));
}

TEST_CASE("nobody writes into somebody else's prefix, root neither") {
  if (geteuid() != 0) {
    MESSAGE("not tried: only root can make a folder of another user");
    return;
  }
  const TemporaryFolder place;
  fs::create_directories(place.folder() / "theirs/there");
  REQUIRE(chown(place.path("theirs").c_str(), 1234, 1234) == 0);
  REQUIRE(chown(place.path("theirs/there").c_str(), 1234, 1234) == 0);

  const Result<Store> there = Store::open(place.path("theirs/there"));
  REQUIRE_FALSE(there.ok());
  CHECK(there.error().number == EPERM);
  CHECK(contains(there.error().text, "belongs to user 1234, and this process runs as user 0"));
  // As sudo does it with the HOME of the user.
  const Result<Store> below = Store::open(place.path() + "/theirs/.local/share/sage-doctor");
  REQUIRE_FALSE(below.ok());
  CHECK(contains(below.error().text, "belongs to user 1234"));
  CHECK(names_in(place.path("theirs")) == std::set<std::string>{"there"});

  // A user can't write below root's folder.
  fs::create_directories(place.folder() / "ours");
  fs::permissions(place.folder(), fs::perms::others_exec, fs::perm_options::add);
  const std::string ours = place.path("ours");
  CHECK(in_child([&] {
          if (setuid(1234) != 0) return 9;
          const Result<Store> refused = Store::open(ours + "/sage-doctor");
          return !refused.ok() && refused.error().number == EACCES && contains(refused.error().text, "--prefix") ? 0
                                                                                                                 : 1;
        }) == 0);
}

TEST_CASE("publishing switches to the new version and keeps the one before") {
  const TemporaryFolder place;
  const Store store = opened(place.path("") + "/p");
  const StoreLock lock = locked(store);

  const Published first = published(store, lock, "one", "1");
  CHECK(first.name == "one");
  CHECK(store.current() == store.prefix() + "/versions/one");
  CHECK(*file_calls::link_text(store.prefix() + "/current") == "versions/one");

  CHECK(published(store, lock, "two", "2").removed.empty());
  const Published third = published(store, lock, "three", "3");
  CHECK(third.removed == std::vector<std::string>{"one"});
  CHECK(third.leftover.empty());
  CHECK(store.current() == third.folder);
  CHECK(names_in(store.prefix() + "/versions") == std::set<std::string>{"two", "three"});
  CHECK(names_in(store.prefix()) == std::set<std::string>{"lock", "cache", "versions", "current"});
}

TEST_CASE("a version's name that is taken gets a number") {
  const TemporaryFolder place;
  const Store store = opened(place.path());
  const StoreLock lock = locked(store);
  published(store, lock, "one", "1");
  const Published again = published(store, lock, "one", "2");
  CHECK(again.name == "one-2");
  CHECK(store.current() == again.folder);
  CHECK(*file_calls::read_whole(*store.current() + "/manifest.json", Links::keep, 10) == "2");
}

TEST_CASE("what can't be published leaves the installation as it was") {
  const TemporaryFolder place;
  const Store store = opened(place.path());
  const StoreLock lock = locked(store);
  const Published first = published(store, lock, "one");

  const Result<std::string> stage = store.stage(lock);
  REQUIRE(stage.ok());
  CHECK_FALSE(store.publish(lock, *stage, "two").ok());  // no manifest
  REQUIRE_FALSE(write_new_file(*stage + "/manifest.json", "{}"));
  CHECK_FALSE(store.publish(lock, *stage, "../two").ok());
  CHECK(store.current() == first.folder);

  // Somebody has put a folder where the link belongs.
  REQUIRE(unlink((store.prefix() + "/current").c_str()) == 0);
  fs::create_directories(store.prefix() + "/current/x");
  const Result<Published> refused = store.publish(lock, *stage, "two");
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.error().text, "cannot switch " + store.prefix() + "/current"));
  CHECK(names_in(store.prefix() + "/versions") == std::set<std::string>{"one"});
}

TEST_CASE("a link that leads out of the prefix is no installation") {
  const TemporaryFolder place;
  const Store store = opened(place.path("") + "/p");
  place.write("elsewhere/manifest.json", "{}");
  for (const char* target : {"../elsewhere", "versions/../../elsewhere", "versions/gone", "versions/"}) {
    unlink((store.prefix() + "/current").c_str());
    REQUIRE(symlink(target, (store.prefix() + "/current").c_str()) == 0);
    CHECK_MESSAGE(!store.current(), target);
  }
}

TEST_CASE("taking the lock sweeps up what a killed build has left") {
  const TemporaryFolder place;
  const Store store = opened(place.path());
  fs::create_directories(place.folder() / "staging-1-1/kernels");
  place.write("staging-1-1/kernels/half", "x");
  REQUIRE(symlink("versions/x", (place.path() + "/current-77").c_str()) == 0);
  place.write("notes.txt", "the user's own");
  const StoreLock lock = locked(store);
  CHECK(names_in(store.prefix()) == std::set<std::string>{"lock", "cache", "versions", "notes.txt"});
}

TEST_CASE("two builds in one prefix wait for each other and know for whom") {
  const TemporaryFolder place;
  const Store store = opened(place.path());
  std::string holder;
  int asked = 0;
  {
    const StoreLock lock = locked(store);
    const Result<StoreLock> second = store.lock([&](const std::string& who) {
      holder = who;
      return ++asked < 3;
    });
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().number == EINTR);
    CHECK(contains(second.error().text, "interrupted while another build held " + store.prefix()));
  }
  CHECK(asked == 3);
  CHECK(holder == std::to_string(getpid()));
  CHECK(store.lock([](const std::string&) { return false; }).ok());
}

TEST_CASE("the lock of a killed process is free") {
  const TemporaryFolder place;
  const Store store = opened(place.path());
  CHECK(in_child([&] {
          const Result<StoreLock> lock = store.lock([](const std::string&) { return false; });
          return lock.ok() ? kill(getpid(), SIGKILL) : 1;
        }) == 200);
  CHECK(store.lock([](const std::string&) { return false; }).ok());
}

TEST_CASE("cleaning keeps the current version unless everything goes") {
  const TemporaryFolder place;
  const Store store = opened(place.path());
  const StoreLock lock = locked(store);
  published(store, lock, "one");
  published(store, lock, "two");
  place.write("cache/abc", "x");

  const auto some = store.clean(lock, Store::Clean::keep_current);
  REQUIRE(some.ok());
  CHECK(*some == std::vector<std::string>{"cache/abc", "versions/one"});
  CHECK(store.current() == store.prefix() + "/versions/two");

  const auto all = store.clean(lock, Store::Clean::everything);
  REQUIRE(all.ok());
  CHECK(*all == std::vector<std::string>{"current", "versions/two"});
  CHECK_FALSE(store.current());
  CHECK(names_in(store.prefix()) == std::set<std::string>{"lock", "cache", "versions"});
}

}  // namespace sage
