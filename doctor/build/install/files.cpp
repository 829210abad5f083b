#include "doctor/build/install/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "probes/base/errno_name.hpp"
#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/host/descriptor.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

struct WayOut {
  int number;
  std::string_view words;
};

constexpr auto ways_out = std::to_array<WayOut>({
    {ENOSPC, "free some space there, or choose another folder"},
    {EDQUOT, "your disk quota there is used up; free some space, or choose another folder"},
    {EROFS, "choose a folder that can be written to"},
    {EACCES, "choose a folder that you may write to"},
    {EPERM, "choose a folder that you may write to"},
    {ENOTDIR, "something of that name is there; choose another folder"},
    {EFBIG, "a limit on file sizes is set (ulimit -f); lift it"},
});

/// An errno; 0: it is there.
int make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return 0;
  const int problem = errno;
  struct stat there {};
  if (problem != EEXIST || stat(path.c_str(), &there) != 0) return problem;
  return S_ISDIR(there.st_mode) ? 0 : ENOTDIR;
}

/// Writes, puts on the disk when asked to, and closes; what goes wrong is told as an errno, 0: nothing.
int fill(Descriptor file, std::string_view bytes, bool sync) {
  if (!file_calls::write_all(file.number(), bytes)) return errno;
  if (sync && fsync(file.number()) != 0) return errno;
  // Servers tell here that they have no room (NFS).
  return close(file.release()) == 0 ? 0 : errno;
}

std::optional<Error> sync_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() || fsync(file.number()) != 0) return write_error(errno, "write " + path + " to the disk");
  return std::nullopt;
}

}  // namespace

Error write_error(int number, const std::string& what) {
  Error error = system_error(number, "cannot " + what);
  for (const WayOut& way : ways_out) {
    if (way.number == number) error.text += "; " + std::string(way.words);
  }
  return error;
}

std::optional<Error> make_folders(const std::string& path) {
  // From the top, so that the first one that can't be made is the one that is named.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (const int problem = make_folder(part)) return write_error(problem, "make the folder " + part);
    if (end == std::string::npos) return std::nullopt;
  }
}

std::optional<Error> write_new_file(const std::string& path, std::string_view bytes, unsigned mode) {
  if (auto problem = make_folders(parent_folder(path))) return problem;
  Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!file.valid()) return write_error(errno, "make " + path);
  const int problem = fill(std::move(file), bytes, false);
  if (problem != 0) return write_error(problem, "write " + path);
  return std::nullopt;
}

std::optional<Error> replace_file(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new-" + std::to_string(getpid());
  unlink(beside.c_str());
  Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) return write_error(errno, "make " + beside);
  int problem = fill(std::move(file), bytes, true);
  if (problem == 0 && std::rename(beside.c_str(), path.c_str()) != 0) problem = errno;
  if (problem != 0) {
    unlink(beside.c_str());
    return write_error(problem, "write " + path);
  }
  return std::nullopt;
}

std::optional<Error> sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return write_error(errno, "open " + path);
  // Some filesystems of servers and virtual machines have no such call for folders.
  if (fsync(folder.number()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    return write_error(errno, "write " + path + " to the disk");
  }
  return std::nullopt;
}

std::optional<Error> sync_tree(const std::string& folder) {
  std::error_code problem;
  for (fs::recursive_directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const fs::file_status status = entry->symlink_status(problem);
    if (problem) break;
    std::optional<Error> error;
    if (fs::is_regular_file(status)) error = sync_file(entry->path());
    if (fs::is_directory(status)) error = sync_folder(entry->path());
    if (error) return error;
  }
  if (problem) return write_error(problem.value(), "read " + folder);
  return sync_folder(folder);
}

std::optional<Error> remove_tree(const std::string& folder) {
  std::error_code problem;
  fs::remove_all(folder, problem);
  if (problem) return write_error(problem.value(), "remove " + folder);
  return std::nullopt;
}

bool safe_name(std::string_view name) {
  const auto fits = [](char c) {
    constexpr std::string_view others = "._+-";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || contains(others, {&c, 1});
  };
  return !name.empty() && name.size() <= 128 && name.front() != '.' && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace sage
