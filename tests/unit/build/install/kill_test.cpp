// A build may be killed at any moment, find the disk full, or meet another build. What was installed stays whole.

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "doctor/build/install/cache.hpp"
#include "doctor/build/install/digest.hpp"
#include "doctor/build/install/files.hpp"
#include "doctor/build/install/manifest.hpp"
#include "doctor/build/install/store.hpp"
#include "doctor/build/install/wheel.hpp"
#include "probes/base/text.hpp"
#include "probes/host/file_calls.hpp"
#include "tests/support/killing.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

/// A folder in memory where there is one: a killed process leaves the same there, and a thousand builds take no time.
fs::path quick_folder() {
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path();
}

bool patient(const std::string&) {
  return true;
}

bool impatient(const std::string&) {
  return false;
}

/// Adds a file to the stage and to its manifest.
bool add_file(const std::string& stage, Manifest& manifest, const std::string& file, const std::string& bytes) {
  manifest.other_files.push_back({file, sha256_hex(bytes)});
  return !write_new_file(stage + "/" + file, bytes);
}

/// Builds and publishes one version with files that are `seed`'s alone, in an opened prefix.
bool publish_one(const Store& store, const std::string& seed) {
  const Result<StoreLock> lock = store.lock(patient);
  if (!lock) return false;
  const Result<std::string> stage = store.stage(*lock);
  if (!stage) return false;
  Manifest manifest;
  manifest.tool_version = "0.1.0";
  manifest.created = "2026-12-01T03:00:00Z";
  manifest.mark = seed;
  manifest.source_sha256 = sha256_hex("source");
  const std::string library = "library of " + seed;
  manifest.library = {"lib/libsage_attention.so.1", sha256_hex(library), 1};
  if (write_new_file(*stage + "/" + manifest.library.file, library)) return false;
  for (const char* file : {"kernels/gfx1201-a.hsaco", "kernels/gfx1201-b.hsaco", "include/sage/attention.h"}) {
    if (!add_file(*stage, manifest, file, file + seed)) return false;
  }
  if (write_new_file(*stage + "/manifest.json", manifest_text(manifest))) return false;
  return store.publish(*lock, *stage, "v" + seed).ok();
}

bool build(const std::string& prefix, const std::string& seed) {
  const Result<Store> store = Store::open(prefix, 0);
  return store.ok() && publish_one(*store, seed);
}

/// What is wrong with the installation; empty: it is whole. The seed of the version goes to `seed`.
std::string defect(const std::string& prefix, std::string& seed) {
  const Result<Store> store = Store::open(prefix, 0);
  if (!store) return store.error().text;
  const auto current = store->current();
  if (!current) return fs::is_symlink(prefix + "/current") ? "current leads nowhere" : "nothing is installed";
  const Result<Manifest> manifest = read_manifest(*current);
  if (!manifest) return manifest.error().text;
  seed = manifest->mark;
  return join(altered_files(*current, *manifest), "; ");
}

/// Everything below the prefix but the lock and the cache.
std::size_t entries_in(const std::string& prefix) {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix)) {
    const std::string name = entry.path().filename();
    if (name != "lock" && name != "cache") ++count;
  }
  return count;
}

bool lock_is_free(const std::string& prefix) {
  const Result<Store> store = Store::open(prefix, 0);
  return store.ok() && store->lock(impatient).ok();
}

}  // namespace

TEST_CASE("a build that is killed at any of its system calls leaves the old version or the new one, whole") {
  const TemporaryFolder place(quick_folder());
  const std::string prefix = place.path() + "/p";
  REQUIRE(build(prefix, "0"));
  std::string before = "0";
  std::size_t switched = 0;
  const std::size_t kills = kill_at_every_call([&](std::size_t n) { build(prefix, std::to_string(n)); },
                                               [&](std::size_t n) {
                                                 CAPTURE(n);
                                                 std::string now;
                                                 CHECK(defect(prefix, now) == "");
                                                 CHECK((now == before || now == std::to_string(n)));
                                                 if (now != before) ++switched;
                                                 before = now;
                                                 CHECK(lock_is_free(prefix));
                                                 CHECK(entries_in(prefix) == 2);  // versions, current
                                               });
  if (kills == 0) {
    MESSAGE("not tried: processes can't be traced here");
    return;
  }
  CHECK(kills > 100);
  CHECK(switched > 1);  // killed after the switch too
  CHECK(before == std::to_string(kills + 1));
  // The current one and the one before.
  CHECK(std::distance(fs::directory_iterator(prefix + "/versions"), {}) == 2);
}

TEST_CASE("the first build that is killed at any of its system calls leaves nothing or a whole version") {
  const TemporaryFolder place(quick_folder());
  const std::size_t kills =
      kill_at_every_call([&](std::size_t n) { build(place.path() + "/" + std::to_string(n), "1"); },
                         [&](std::size_t n) {
                           CAPTURE(n);
                           std::string seed;
                           const std::string problem = defect(place.path() + "/" + std::to_string(n), seed);
                           CHECK((problem.empty() || problem == "nothing is installed"));
                           fs::remove_all(place.folder() / std::to_string(n));
                         });
  if (kills == 0) MESSAGE("not tried: processes can't be traced here");
}

TEST_CASE("two hundred builds that are killed at random moments never break the installation") {
  const TemporaryFolder place(quick_folder());
  const std::string prefix = place.path() + "/p";
  REQUIRE(build(prefix, "0"));
  std::mt19937 random(20261201);
  std::uniform_int_distribution<unsigned> microseconds(0, 20000);
  int killed = 0;
  for (int n = 1; killed < 200; ++n) {
    CAPTURE(n);
    REQUIRE(n < 2000);
    const pid_t child = fork();
    if (child == 0) {
      // Until it is killed, so that no moment is more likely than another.
      for (int round = 0; round < 1000; ++round) build(prefix, std::to_string(n) + "." + std::to_string(round));
      _exit(0);
    }
    usleep(microseconds(random));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    std::string seed;
    REQUIRE(defect(prefix, seed) == "");
    REQUIRE(lock_is_free(prefix));
  }
}

TEST_CASE("builds that run at once take turns and none is lost") {
  const TemporaryFolder place(quick_folder());
  const std::string prefix = place.path() + "/p";
  std::vector<pid_t> children;
  for (int builder = 0; builder < 3; ++builder) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    bool good = true;
    for (int round = 0; round < 5 && good; ++round) {
      good = build(prefix, std::to_string(builder) + "." + std::to_string(round));
    }
    _exit(good ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  std::string seed;
  CHECK(defect(prefix, seed) == "");
  CHECK(entries_in(prefix) == 2);
}

TEST_CASE("a full disk is told and leaves the installation as it was") {
  const TemporaryFolder place(quick_folder());
  const std::string prefix = place.path() + "/full";
  fs::create_directories(prefix);
  constexpr int no_mount = 77;
  const int status = [&] {
    const pid_t child = fork();
    if (child == 0) {
      // Mounts of this child alone; they go with it.
      const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                           mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                           mount("tmpfs", prefix.c_str(), "tmpfs", 0, "size=256k") == 0;
      if (!mounted) _exit(no_mount);
      std::string seed;
      if (!build(prefix, "1") || !defect(prefix, seed).empty()) _exit(1);
      const Result<Store> little = Store::open(prefix);
      if (little.ok() || little.error().number != ENOSPC || !contains(little.error().text, "are needed")) _exit(2);
      const Store store = *Store::open(prefix, 0);
      const Result<StoreLock> lock = store.lock(impatient);
      const std::string stage = *store.stage(*lock);
      const auto error = write_new_file(stage + "/kernels/x.hsaco", std::string(1 << 20, 'x'));
      if (!error || error->number != ENOSPC || !contains(error->text, "free some space there")) _exit(3);
      const ObjectCache cache(store.cache_folder());
      if (!cache.put("key", "object")) _exit(4);  // not one byte is left
      if (cache.find("key")) _exit(5);
      if (!defect(prefix, seed).empty() || seed != "1") _exit(6);
      if (store.sweep(*lock) || cache.put("key", "object") || cache.find("key") != "object") _exit(7);
      _exit(0);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  }();
  if (status == no_mount) {
    MESSAGE("not tried: no filesystem can be mounted here");
  } else {
    CHECK(status == 0);
  }
}

TEST_CASE("a limit on file sizes is told and leaves the installation as it was") {
  const TemporaryFolder place(quick_folder());
  const std::string prefix = place.path() + "/p";
  REQUIRE(build(prefix, "1"));
  CHECK(status_in_child([&] {
          const rlimit limit{4096, 4096};
          std::signal(SIGXFSZ, SIG_IGN);
          if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
          const Store store = *Store::open(prefix, 0);
          const Result<StoreLock> lock = store.lock(impatient);
          const auto error = write_new_file(*store.stage(*lock) + "/big", std::string(8192, 'x'));
          return error && error->number == EFBIG && contains(error->text, "ulimit -f");
        }) == 0);
  std::string seed;
  CHECK(defect(prefix, seed) == "");
  CHECK(seed == "1");
}

TEST_CASE("a wheel's install that is killed at any of its system calls leaves a package that is whole") {
  const TemporaryFolder place(quick_folder());
  const auto request = [&](const std::string& version) {
    return WheelRequest{
        place.path(), version, "py3-none-linux_x86_64", {{"__init__.py", version}, {"lib/x.so.1", version}}};
  };
  REQUIRE(install_wheel(request("1.0")).ok());
  const std::string package = place.path() + "/sage_doctor_attention/";
  const auto text = [](const std::string& path) {
    return file_calls::read_whole(path, Links::keep, 1000).value_or("?");
  };
  // Every other time the version is the one before: then the folders change places.
  const std::size_t kills = kill_at_every_call(
      [&](std::size_t n) { static_cast<void>(install_wheel(request("1." + std::to_string(n / 2)))); },
      [&](std::size_t n) {
        CAPTURE(n);
        const std::string version = text(package + "__init__.py");
        CHECK(version.starts_with("1."));
        CHECK(text(package + "lib/x.so.1") == version);
      });
  if (kills == 0) {
    MESSAGE("not tried: processes can't be traced here");
    return;
  }
  CHECK(kills > 50);
  // Nothing of all those is left but the last one.
  const Result<WheelInstalled> last = install_wheel(request("2.0"));
  REQUIRE_MESSAGE(last.ok(), last.error().text);
  CHECK(std::distance(fs::directory_iterator(place.folder()), {}) == 2);
}

}  // namespace sage
