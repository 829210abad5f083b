#include "doctor/build/install/cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "doctor/build/install/digest.hpp"
#include "doctor/build/install/files.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

/// A file is the hex digest of the object, a line end, the object.
constexpr std::size_t header_bytes = 65;

struct CachedFile {
  std::string path;
  std::uint64_t bytes = 0;
  timespec used{};
};

bool used_later(const CachedFile& a, const CachedFile& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec > b.used.tv_sec : a.used.tv_nsec > b.used.tv_nsec;
}

}  // namespace

std::string ObjectCache::path_of(std::string_view key) const {
  return folder_ + "/" + sha256_hex(key);
}

std::optional<std::string> ObjectCache::find(std::string_view key) const {
  const std::string path = path_of(key);
  Result<std::string> bytes = file_calls::read_whole(path, Links::keep, most_bytes_);
  if (!bytes || bytes->size() < header_bytes) return std::nullopt;
  std::string object = bytes->substr(header_bytes);
  if (bytes->substr(0, header_bytes) != sha256_hex(object) + "\n") return std::nullopt;
  // Its time is that of its last use. On a read-only folder it stays as it is.
  utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return object;
}

std::optional<Error> ObjectCache::put(std::string_view key, std::string_view object) const {
  if (object.size() + header_bytes > most_bytes_) return std::nullopt;
  if (auto error = make_folders(folder_)) return error;
  if (auto error = replace_file(path_of(key), sha256_hex(object) + "\n" + std::string(object))) return error;
  trim();
  return std::nullopt;
}

void ObjectCache::trim() const {
  constexpr std::size_t most_files = 100000;
  std::vector<CachedFile> files;
  for (const std::string& name : file_calls::list(folder_, Links::follow, most_files).value_or({})) {
    const std::string path = folder_ + "/" + name;
    struct stat there {};
    if (lstat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) continue;
    if (is_sha256_hex(name)) {
      files.push_back({path, static_cast<std::uint64_t>(there.st_size), there.st_mtim});
    } else {
      unlink(path.c_str());  // half written by a process that was killed
    }
  }
  std::sort(files.begin(), files.end(), used_later);
  std::uint64_t together = 0;
  for (const CachedFile& file : files) {
    together += file.bytes;
    if (together > most_bytes_) unlink(file.path.c_str());
  }
}

}  // namespace sage
