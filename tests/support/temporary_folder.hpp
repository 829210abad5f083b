#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sage {

/// A folder that is gone when this object is, below the system's folder for temporary files unless another is named.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& below = std::filesystem::temp_directory_path());
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
