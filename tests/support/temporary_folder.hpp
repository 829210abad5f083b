#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sage {

/// A folder below the system's folder for temporary files that is gone when this object is.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Canonical path of the folder, or of a name in it.
  [[nodiscard]] std::string path(std::string_view name = "") const;

  /// Makes a file with these bytes and the folders above it; returns its path.
  std::string write(std::string_view name, std::string_view bytes) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace sage
