#include "probes/host/capture_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

namespace sage {
namespace {

constexpr int deepest_folder = 64;
constexpr std::size_t longest_target = 4096;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] bool valid() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

Error problem_at(const std::filesystem::path& place, std::string_view what) {
  return {0, place.string() + ": " + std::string(what)};
}

// A FIFO or device put in the place of a file between the look and the open must not block: O_NONBLOCK.
Result<std::string> read_regular(int folder, const std::string& name, std::size_t cap,
                                 const std::filesystem::path& place) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) {
    return errno == ELOOP ? problem_at(place, "a symbolic link is not followed here") : system_error(errno, place.string());
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_error(errno, place.string());
  if (!S_ISREG(status.st_mode)) return problem_at(place, "not a regular file");

  std::string text;
  while (true) {
    const std::size_t before = text.size();
    const std::size_t step = std::min<std::size_t>(64 * 1024, cap + 1 - before);
    if (step == 0) return problem_at(place, "longer than the " + std::to_string(cap) + " bytes that are left for it");
    text.resize(before + step);
    const ssize_t count = ::read(file.get(), text.data() + before, step);
    if (count < 0) return system_error(errno, place.string());
    text.resize(before + static_cast<std::size_t>(count));
    if (count == 0) return text;
  }
}

class TreeReader {
 public:
  TreeReader(CaptureBudget& budget, std::map<std::string, TreeEntry>& entries) : budget_(budget), entries_(entries) {}

  /// `path` is the folder's absolute path in the captured machine, "" for its "/".
  std::optional<Error> read(int folder, const std::string& path, const std::filesystem::path& place, int depth) {
    if (depth > deepest_folder) return problem_at(place, "too deep a folder");
    const Result<std::vector<std::string>> names = names_in(folder, place);
    if (!names) return names.error();
    if (names->empty() && !path.empty()) entries_[path] = {FileType::directory, {}};
    for (const std::string& name : *names) {
      if (auto problem = read_entry(folder, name, path + "/" + name, place / name, depth)) return problem;
    }
    return std::nullopt;
  }

 private:
  Result<std::vector<std::string>> names_in(int folder, const std::filesystem::path& place) {
    Descriptor again(::openat(folder, ".", folder_flags));
    if (!again.valid()) return system_error(errno, place.string());
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(again.get()), ::closedir);
    if (!stream) return system_error(errno, place.string());
    (void)again.release();  // the stream closes it

    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (budget_.files == 0) return problem_at(place, "more files than a capture may have");
      --budget_.files;
      names.push_back(name);
    }
    if (errno != 0) return system_error(errno, place.string());
    return names;
  }

  std::optional<Error> read_entry(int folder, const std::string& name, const std::string& path,
                                  const std::filesystem::path& place, int depth) {
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return system_error(errno, place.string());
    if (S_ISDIR(status.st_mode)) {
      const Descriptor inner(::openat(folder, name.c_str(), folder_flags | O_NOFOLLOW));
      if (!inner.valid()) return system_error(errno, place.string());
      return read(inner.get(), path, place, depth + 1);
    }
    if (S_ISLNK(status.st_mode)) {
      std::string target(longest_target, '\0');
      const ssize_t length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
      if (length < 0) return system_error(errno, place.string());
      target.resize(static_cast<std::size_t>(length));
      entries_[path] = {FileType::symlink, std::move(target)};
      return std::nullopt;
    }
    if (!S_ISREG(status.st_mode)) return problem_at(place, "neither file, folder nor link (describe it in capture.toml)");

    Result<std::string> text = read_regular(folder, name, budget_.bytes, place);
    if (!text) return text.error();
    budget_.bytes -= text->size();
    entries_[path] = {FileType::regular, std::move(text).value()};
    return std::nullopt;
  }

  CaptureBudget& budget_;
  std::map<std::string, TreeEntry>& entries_;
};

}  // namespace

Result<CaptureFolder> CaptureFolder::open(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), folder_flags);
  if (descriptor < 0) return system_error(errno, folder.string());
  return CaptureFolder(descriptor, folder);
}

Result<CaptureFolder> CaptureFolder::open_sibling(const std::string& name) const {
  const std::filesystem::path place = (name_ / ".." / name).lexically_normal();
  const Descriptor parent(::openat(descriptor_, "..", folder_flags));
  if (!parent.valid()) return system_error(errno, (name_ / "..").string());
  const int descriptor = ::openat(parent.get(), name.c_str(), folder_flags | O_NOFOLLOW);
  if (descriptor < 0) return system_error(errno, place.string());
  return CaptureFolder(descriptor, place);
}

CaptureFolder::~CaptureFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::pair<std::uint64_t, std::uint64_t>> CaptureFolder::identity() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return system_error(errno, name_.string());
  return std::pair<std::uint64_t, std::uint64_t>{status.st_dev, status.st_ino};
}

Result<std::string> CaptureFolder::read_file(const std::string& name, std::size_t cap) const {
  return read_regular(descriptor_, name, cap, name_ / name);
}

Result<std::map<std::string, TreeEntry>> CaptureFolder::read_root(CaptureBudget& budget) const {
  std::map<std::string, TreeEntry> entries;
  const std::filesystem::path place = name_ / "root";
  const Descriptor root(::openat(descriptor_, "root", folder_flags | O_NOFOLLOW));
  if (!root.valid()) {
    if (errno == ENOENT) return entries;
    return errno == ELOOP || errno == ENOTDIR ? problem_at(place, "not a folder") : system_error(errno, place.string());
  }
  TreeReader reader(budget, entries);
  if (auto problem = reader.read(root.get(), "", place, 0)) return *problem;
  return entries;
}

}  // namespace sage
