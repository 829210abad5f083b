#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sage {

/// A wsl.conf or .wslconfig file, read as WSL itself reads it (microsoft/WSL src/shared/configfile/configfile.cpp):
/// sections and keys ignore case, # starts a comment outside of quotes, the first of two equal keys counts, and a line
/// that is none of these is passed over.
class WslConf {
 public:
  explicit WslConf(std::string_view text);

  [[nodiscard]] std::optional<std::string> value(std::string_view section, std::string_view key) const;
  /// The value as true or false; `fallback` when the key is missing or says neither.
  [[nodiscard]] bool flag(std::string_view section, std::string_view key, bool fallback) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;  ///< "section.key" in lower case
};

}  // namespace sage
