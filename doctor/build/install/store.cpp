// The order of things here is what keeps an installation whole. A version is written in a staged folder, put on the
// disk, and renamed into versions/ before anything leads to it. `current` is a symbolic link that is made under another
// name and renamed over the old one: rename(2) leaves one or the other, never none. What a killed process leaves behind
// is only ever a staged folder, a link beside `current`, or a version that nothing leads to, and the next holder of the
// lock removes all three.

#include "doctor/build/install/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "doctor/build/install/files.hpp"
#include "doctor/build/install/manifest.hpp"
#include "probes/base/errno_name.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view staged_prefix = "staging-";
constexpr std::string_view new_link_prefix = "current-";
constexpr auto between_tries = std::chrono::milliseconds(200);

Error with_way_out(Error error) {
  error.text += " (--prefix DIR installs elsewhere)";
  return error;
}

std::optional<Error> with_way_out(std::optional<Error> error) {
  if (error) error = with_way_out(*std::move(error));
  return error;
}

bool exists(const std::string& path) {
  struct stat there {};
  return lstat(path.c_str(), &there) == 0;
}

bool is_folder(const std::string& path) {
  struct stat there {};
  return lstat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
}

/// Names in the folder; none when it can't be read.
std::vector<std::string> names_in(const std::string& folder) {
  constexpr std::size_t most = 100000;
  return file_calls::list(folder, Links::follow, most).value_or({});
}

Error of_somebody_else(const std::string& path, uid_t owner) {
  const std::string text = path + " belongs to user " + std::to_string(owner) + ", and this process runs as user " +
                           std::to_string(geteuid()) + ": run it as that user";
  return with_way_out(Error{EPERM, text});
}

/// Whether the prefix, or the folder that it would be made in, is ours to write into.
std::optional<Error> refuse_owner(const std::string& prefix) {
  struct stat there {};
  if (stat(prefix.c_str(), &there) == 0) {
    if (!S_ISDIR(there.st_mode))
      return with_way_out(Error{ENOTDIR, "cannot install to " + prefix + ": it is no folder"});
    if (there.st_uid != geteuid()) return of_somebody_else(prefix, there.st_uid);
    return std::nullopt;
  }
  if (geteuid() != 0) return std::nullopt;
  // sudo may keep HOME: a folder of root's below the user's own is one that the user can't remove.
  std::string above = prefix;
  while (above != "/" && stat(above.c_str(), &there) != 0) above = parent_folder(above);
  const bool for_everybody = (there.st_mode & S_ISVTX) != 0;
  if (above != "/" && there.st_uid != 0 && !for_everybody) return of_somebody_else(above, there.st_uid);
  return std::nullopt;
}

std::optional<Error> refuse_unwritable(const std::string& folder) {
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return std::nullopt;
  return with_way_out(write_error(errno, "write to " + folder));
}

std::optional<Error> refuse_full(const std::string& folder, std::uint64_t least_bytes) {
  struct statvfs room {};
  // Some filesystems of user space tell nothing: no blocks at all.
  if (statvfs(folder.c_str(), &room) != 0 || room.f_blocks == 0) return std::nullopt;
  const std::uint64_t free_bytes = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (free_bytes >= least_bytes) return std::nullopt;
  return with_way_out(Error{ENOSPC, "only " + human_bytes(free_bytes) + " are free at " + folder + ", and " +
                                        human_bytes(least_bytes) + " are needed: free some space there"});
}

std::string holder_of(int lock_file) {
  constexpr std::size_t longest = 20;
  const std::string text(trim(file_calls::read_at(lock_file, 0, longest).value_or("")));
  return parse_number(text) ? text : "";
}

}  // namespace

Result<Store> Store::open(const std::string& given, std::uint64_t least_bytes) {
  if (given.empty()) {
    return Error{
        ENOENT,
        "there is no folder to install to: neither XDG_DATA_HOME nor HOME names one; name it with --prefix DIR"};
  }
  std::error_code problem;
  std::string prefix = fs::absolute(given, problem).lexically_normal();
  if (problem) return Error{problem.value(), "cannot install to " + given + ": " + problem.message()};
  while (prefix.size() > 1 && prefix.back() == '/') prefix.pop_back();

  Store store(prefix);
  if (auto refused = refuse_owner(prefix)) return *refused;
  for (const std::string& folder : {prefix, store.cache_folder(), store.versions_folder()}) {
    if (auto error = make_folders(folder)) return with_way_out(*error);
    if (auto refused = refuse_unwritable(folder)) return *refused;
  }
  if (auto refused = refuse_full(prefix, least_bytes)) return *refused;
  return store;
}

Result<StoreLock> Store::lock(const Waiting& waiting) const {
  const std::string path = prefix_ + "/lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) return with_way_out(write_error(errno, "open " + path));
  while (flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return with_way_out(system_error(errno, "cannot lock " + path));
    if (!waiting(holder_of(file.number()))) {
      return Error{EINTR, "interrupted while another build held " + prefix_};
    }
    std::this_thread::sleep_for(between_tries);
  }
  // For whoever waits: nobody relies on it.
  const std::string number = std::to_string(getpid()) + "\n";
  if (ftruncate(file.number(), 0) != 0 || !file_calls::write_all(file.number(), number)) {
    return with_way_out(write_error(errno, "write " + path));
  }
  StoreLock lock(std::move(file));
  if (auto error = sweep(lock)) return *error;
  return lock;
}

Result<std::string> Store::stage(const StoreLock&) const {
  const std::string start = prefix_ + "/" + std::string(staged_prefix) + std::to_string(getpid()) + "-";
  for (unsigned number = 1;; ++number) {
    const std::string folder = start + std::to_string(number);
    if (mkdir(folder.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) return with_way_out(write_error(errno, "make the folder " + folder));
  }
}

std::string Store::current_name() const {
  constexpr std::string_view start = "versions/";
  const std::string text = file_calls::link_text(current_link()).value_or("");
  if (!text.starts_with(start)) return "";
  const std::string name = text.substr(start.size());
  return safe_name(name) ? name : "";
}

std::optional<std::string> Store::current() const {
  const std::string name = current_name();
  const std::string folder = versions_folder() + "/" + name;
  if (name.empty() || !is_folder(folder)) return std::nullopt;
  return folder;
}

std::string Store::free_version_name(const std::string& wanted) const {
  std::string name = wanted;
  for (unsigned number = 2; exists(versions_folder() + "/" + name); ++number)
    name = wanted + "-" + std::to_string(number);
  return name;
}

std::optional<Error> Store::switch_current(const std::string& name) const {
  const std::string beside = prefix_ + "/" + std::string(new_link_prefix) + std::to_string(getpid());
  unlink(beside.c_str());
  if (symlink(("versions/" + name).c_str(), beside.c_str()) != 0) return write_error(errno, "make the link " + beside);
  if (std::rename(beside.c_str(), current_link().c_str()) == 0) return std::nullopt;
  const Error error = write_error(errno, "switch " + current_link());
  unlink(beside.c_str());
  return error;
}

Result<Published> Store::publish(const StoreLock&, const std::string& stage, const std::string& wanted) const {
  if (!safe_name(wanted)) return Error{EINVAL, "\"" + wanted + "\" can't be the name of a version"};
  const std::string manifest = stage + "/" + std::string(manifest_name);
  if (!exists(manifest)) return Error{ENOENT, "cannot install " + stage + ": it has no " + std::string(manifest_name)};

  const std::string before = current_name();
  const std::string name = free_version_name(wanted);
  Published done{name, versions_folder() + "/" + name, {}, {}};
  if (auto error = sync_tree(stage)) return with_way_out(*error);
  if (std::rename(stage.c_str(), done.folder.c_str()) != 0) {
    return with_way_out(write_error(errno, "move " + stage + " to " + done.folder));
  }
  // The folder must be on the disk before the link that leads to it.
  auto error = sync_folder(versions_folder());
  if (!error) error = switch_current(name);
  if (error) {
    // A version that nothing leads to; the next build removes it when this can't.
    static_cast<void>(remove_tree(done.folder));
    return with_way_out(*error);
  }
  if (auto unsure = sync_folder(prefix_)) done.leftover = unsure->text;

  for (const std::string& old : names_in(versions_folder())) {
    if (old == name || old == before) continue;
    if (auto left = remove_tree(versions_folder() + "/" + old)) {
      done.leftover = left->text;
    } else {
      done.removed.push_back(old);
    }
  }
  return done;
}

std::optional<Error> Store::sweep(const StoreLock&) const {
  for (const std::string& name : names_in(prefix_)) {
    if (!name.starts_with(staged_prefix) && !name.starts_with(new_link_prefix)) continue;
    if (auto error = remove_tree(prefix_ + "/" + name)) return with_way_out(error);
  }
  return std::nullopt;
}

Result<std::vector<std::string>> Store::clean(const StoreLock&, Clean what) const {
  const std::string kept = what == Clean::keep_current ? current_name() : "";
  std::vector<std::string> removed;
  // The link first: it never leads nowhere.
  if (what == Clean::everything && exists(current_link())) {
    if (unlink(current_link().c_str()) != 0) return with_way_out(write_error(errno, "remove " + current_link()));
    removed.push_back("current");
  }
  for (const std::string& folder : {std::string("cache"), std::string("versions")}) {
    for (const std::string& name : names_in(prefix_ + "/" + folder)) {
      if (folder == "versions" && name == kept) continue;
      if (auto error = remove_tree(prefix_ + "/" + folder + "/" + name)) return with_way_out(*error);
      removed.push_back(folder + "/" + name);
    }
  }
  return removed;
}

}  // namespace sage
