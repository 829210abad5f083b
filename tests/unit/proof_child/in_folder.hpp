#pragma once

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace sage::test {

/// A private folder that is the working folder while this lives, as the warden makes one for a proof.
class InFolder {
 public:
  InFolder() : before_(std::filesystem::current_path()) { std::filesystem::current_path(folder_.folder()); }
  ~InFolder() { std::filesystem::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

  /// A shell script that can be run; its path.
  [[nodiscard]] std::string script(std::string_view name, const std::string& text) const {
    const std::string path = folder_.write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path before_;
};

}  // namespace sage::test
