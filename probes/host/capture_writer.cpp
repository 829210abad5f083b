#include "probes/host/capture_writer.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <set>
#include <system_error>

#include "probes/host/capture_filters.hpp"
#include "probes/host/capture_folder.hpp"
#include "probes/host/capture_reader.hpp"
#include "probes/host/capture_redaction.hpp"
#include "probes/host/capture_toml.hpp"

namespace sage {
namespace {

namespace fs = std::filesystem;

constexpr mode_t folder_mode = 0700;
constexpr mode_t file_mode = 0600;

/// A folder beside the wanted one, removed again unless it was renamed to it.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const fs::path& wanted) {
    std::string name = wanted.string() + ".unfinished-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path_ = name;  // mode 0700
  }
  ~UnfinishedFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

  [[nodiscard]] bool made() const { return !path_.empty(); }
  [[nodiscard]] const fs::path& path() const { return path_; }

  /// rename(2) replaces an empty folder and refuses any other.
  [[nodiscard]] bool rename_to(const fs::path& wanted) {
    if (::rename(path_.c_str(), wanted.c_str()) != 0) return false;
    path_.clear();
    return true;
  }

 private:
  fs::path path_;
};

/// Counts what it writes; the first error stays.
class FileWriter {
 public:
  [[nodiscard]] std::optional<Error> make_folders(const fs::path& base, const std::string& below) {
    fs::path folder = base;
    for (const fs::path& part : fs::path(below).relative_path()) {
      folder /= part;
      if (!made_.insert(folder).second) continue;
      if (::mkdir(folder.c_str(), folder_mode) != 0 && errno != EEXIST) return system_error(errno, folder.string());
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Error> write(const fs::path& file, std::string_view text) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode);
    if (descriptor < 0) return system_error(errno, file.string());
    std::string_view rest = text;
    int failure = 0;
    while (!rest.empty() && failure == 0) {
      const ssize_t count = ::write(descriptor, rest.data(), rest.size());
      if (count >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        failure = errno;
      }
    }
    if (::close(descriptor) != 0 && failure == 0) failure = errno;
    if (failure != 0) return system_error(failure, file.string());
    ++written_.files;
    written_.bytes += text.size();
    return std::nullopt;
  }

  [[nodiscard]] const WrittenCapture& written() const { return written_; }

 private:
  WrittenCapture written_;
  std::set<fs::path> made_;
};

std::optional<Error> occupied(const fs::path& folder) {
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(folder, failure);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (failure) return system_error(failure.value(), folder.string());
  if (status.type() != fs::file_type::directory) return Error{EEXIST, folder.string() + ": exists and is no folder"};
  const bool empty = fs::is_empty(folder, failure);
  if (failure) return system_error(failure.value(), folder.string());
  if (!empty) return Error{ENOTEMPTY, folder.string() + ": the folder is not empty (name a new one)"};
  return std::nullopt;
}

std::optional<Error> write_files(const Capture& capture, const fs::path& base, FileWriter& writer) {
  if (auto problem = writer.write(base / "capture.toml", capture_to_toml(capture))) return problem;
  for (const auto& [path, entry] : capture.paths) {
    if (!entry.contents) continue;
    if (auto problem = writer.make_folders(base, "root" + parent_path(path))) return problem;
    if (auto problem = writer.write(base / ("root" + path), *entry.contents)) return problem;
  }
  return std::nullopt;
}

}  // namespace

Result<WrittenCapture> write_capture(const Capture& capture, const fs::path& folder, const Redaction& redaction) {
  const fs::path wanted = folder.has_filename() ? folder : folder.parent_path();
  if (auto problem = occupied(wanted)) return *problem;

  Capture kept = capture;
  filter_capture(kept);
  kept = redacted(kept, redaction);
  std::erase_if(kept.paths, [](const auto& entry) { return !is_plain_absolute_path(entry.first); });

  UnfinishedFolder unfinished(wanted);
  if (!unfinished.made()) return system_error(errno, wanted.string());
  FileWriter writer;
  if (auto problem = write_files(kept, unfinished.path(), writer)) return *problem;
  if (const Result<Capture> back = read_capture(unfinished.path()); !back) return back.error();
  if (!unfinished.rename_to(wanted)) return system_error(errno, wanted.string());
  return writer.written();
}

}  // namespace sage
