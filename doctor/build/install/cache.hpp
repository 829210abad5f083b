#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "probes/base/result.hpp"

namespace sage {

/// Verified code objects by what they were made from. One file an object, named by the SHA-256 of the key; it begins
/// with the digest of the object, so that a torn or altered file is a miss and never an object. Changed only while the
/// Store's lock is held.
class ObjectCache {
 public:
  static constexpr std::uint64_t default_most_bytes = 64ull << 20;

  /// Nothing is touched yet. `most_bytes` is what all files together may take.
  explicit ObjectCache(std::string folder, std::uint64_t most_bytes = default_most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// The object for the key, any text; nullopt: there is none that can be trusted. One that is found counts as new.
  [[nodiscard]] std::optional<std::string> find(std::string_view key) const;

  /// Keeps the object and removes those that were not used for longest until all fit. nullopt: done.
  [[nodiscard]] std::optional<Error> put(std::string_view key, std::string_view object) const;

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;
  void trim() const;

  std::string folder_;
  std::uint64_t most_bytes_;
};

}  // namespace sage
