#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// How much a capture may still bring in, over its whole chain of `extends`.
struct CaptureBudget {
  std::size_t files = 50'000;  ///< folders and links count too
  std::size_t bytes = 64 * 1024 * 1024;
};

/// One file, empty folder or symlink below root/.
struct TreeEntry {
  FileType type = FileType::regular;
  std::string text;  ///< contents, or the target of a symlink
};

/// An open capture folder. A capture may come from a stranger, so nothing in it leads out of it: every step is an
/// openat(2) that refuses symlinks, links below root/ are read as text and never followed, and anything that is not a
/// file, folder or link is an error before it is opened for reading.
class CaptureFolder {
 public:
  /// `folder` itself may be a symlink: the user named it.
  [[nodiscard]] static Result<CaptureFolder> open(const std::filesystem::path& folder);
  /// The folder `name` beside this one.
  [[nodiscard]] Result<CaptureFolder> open_sibling(const std::string& name) const;

  CaptureFolder(CaptureFolder&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}
  CaptureFolder& operator=(CaptureFolder&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(name_, other.name_);
    return *this;
  }
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;
  ~CaptureFolder();

  /// For messages.
  [[nodiscard]] const std::filesystem::path& name() const { return name_; }
  /// Device and inode: the same for the same folder, however it was reached.
  [[nodiscard]] Result<std::pair<std::uint64_t, std::uint64_t>> identity() const;
  [[nodiscard]] Result<std::string> read_file(const std::string& name, std::size_t cap) const;
  /// All of root/ by absolute path ("/proc/version"); empty when there is no root/. Takes from `budget`.
  [[nodiscard]] Result<std::map<std::string, TreeEntry>> read_root(CaptureBudget& budget) const;

 private:
  CaptureFolder(int descriptor, std::filesystem::path name) : descriptor_(descriptor), name_(std::move(name)) {}

  int descriptor_ = -1;
  std::filesystem::path name_;
};

}  // namespace sage
