#include "probes/host/file_calls.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

namespace sage::file_calls {
namespace {

constexpr std::size_t first_block = 4096;
constexpr int quiet = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;

Error reason(int number) {
  return {number, errno_text(Errno{number})};
}

int stat_flags(Links links) {
  return links == Links::keep ? AT_SYMLINK_NOFOLLOW : 0;
}

int open_flags(Links links) {
  return quiet | (links == Links::keep ? O_NOFOLLOW : 0);
}

Result<Descriptor> open_retrying(const std::string& path, int flags) {
  int number = -1;
  do {
    number = open(path.c_str(), flags);
  } while (number < 0 && errno == EINTR);
  if (number < 0) return reason(errno);
  return Descriptor(number);
}

Error not_regular(mode_t mode) {
  if (S_ISDIR(mode)) return reason(EISDIR);
  if (S_ISLNK(mode)) return reason(ELOOP);
  return {EINVAL, "not a regular file"};
}

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  if (S_ISDIR(mode)) return FileType::directory;
  if (S_ISLNK(mode)) return FileType::symlink;
  if (S_ISCHR(mode)) return FileType::character_device;
  if (S_ISBLK(mode)) return FileType::block_device;
  return FileType::other;
}

}  // namespace

Result<Descriptor> open_regular(const std::string& path, Links links) {
  struct stat found = {};
  // Before opening: opening alone starts a watchdog and rewinds a tape.
  if (fstatat(AT_FDCWD, path.c_str(), &found, stat_flags(links)) != 0) return reason(errno);
  if (!S_ISREG(found.st_mode)) return not_regular(found.st_mode);
  auto file = open_retrying(path, open_flags(links));
  if (!file.ok()) return file;
  // Again after it: the name may mean something else by now.
  if (fstat(file->number(), &found) != 0) return reason(errno);
  if (!S_ISREG(found.st_mode)) return not_regular(found.st_mode);
  return file;
}

Result<std::string> read_whole(const std::string& path, Links links, std::size_t cap) {
  const auto file = open_regular(path, links);
  if (!file.ok()) return file.error();
  std::string bytes;
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.size()) bytes.resize(std::min(std::max(first_block, used * 4), cap + 1));
    const ssize_t got = read(file->number(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return reason(errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > cap) return Error{EFBIG, "longer than the " + std::to_string(cap) + " bytes that are read of it"};
  }
  bytes.resize(used);
  return bytes;
}

Result<std::string> read_at(int file, std::uint64_t offset, std::size_t count) {
  if (offset > static_cast<std::uint64_t>(LLONG_MAX) - count) return reason(EOVERFLOW);
  std::string bytes(count, '\0');
  std::size_t used = 0;
  while (used < count) {
    const ssize_t got = pread(file, bytes.data() + used, count - used, static_cast<off_t>(offset + used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return reason(errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

Result<std::string> read_end(const std::string& path, Links links, std::size_t count) {
  const auto file = open_regular(path, links);
  if (!file.ok()) return file.error();
  struct stat found = {};
  if (fstat(file->number(), &found) != 0) return reason(errno);
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(found.st_size, 0));
  const std::size_t wanted = std::min<std::uint64_t>(size, count);
  return read_at(file->number(), size - wanted, wanted);
}

Result<std::vector<std::string>> list(const std::string& path, Links links, std::size_t most) {
  auto opened = open_retrying(path, open_flags(links) | O_DIRECTORY);
  if (!opened.ok()) return opened.error();
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(fdopendir(opened->number()), closedir);
  if (!folder) return reason(errno);
  opened->release();  // the folder's now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == most) return Error{EFBIG, "more than " + std::to_string(most) + " names in this folder"};
    names.emplace_back(name);
  }
  if (errno != 0) return reason(errno);
  std::sort(names.begin(), names.end());
  return names;
}

Result<FileStatus> status(const std::string& path, Links links) {
  struct stat found = {};
  if (fstatat(AT_FDCWD, path.c_str(), &found, stat_flags(links)) != 0) return reason(errno);
  FileStatus status;
  status.type = type_of(found.st_mode);
  status.mode = found.st_mode & 07777U;
  status.uid = found.st_uid;
  status.gid = found.st_gid;
  if (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode)) {
    status.device_major = major(found.st_rdev);
    status.device_minor = minor(found.st_rdev);
  }
  status.size = static_cast<std::uint64_t>(std::max<off_t>(found.st_size, 0));
  status.inode = found.st_ino;
  return status;
}

Result<std::string> link_text(const std::string& path) {
  std::array<char, PATH_MAX + 1> text;
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  if (size < 0) return reason(errno);
  if (static_cast<std::size_t>(size) == text.size()) return reason(ENAMETOOLONG);
  return std::string(text.data(), static_cast<std::size_t>(size));
}

Result<std::string> resolve(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), std::free);
  if (!resolved) return reason(errno);
  return std::string(resolved.get());
}

Result<std::uint64_t> filesystem_bytes(const std::string& path) {
  struct statfs found = {};
  int status = 0;
  do {
    status = statfs(path.c_str(), &found);
  } while (status != 0 && errno == EINTR);
  if (status != 0) return reason(errno);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(found.f_blocks), static_cast<std::uint64_t>(found.f_frsize),
                             &bytes)) {
    return reason(EOVERFLOW);
  }
  return bytes;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace sage::file_calls
