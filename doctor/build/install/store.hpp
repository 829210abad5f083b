#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/descriptor.hpp"

namespace sage {

/// Holds the prefix for one build; gives it back when it goes. Whatever changes a prefix asks for it.
class StoreLock {
 public:
  explicit StoreLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

struct Published {
  std::string name;                  ///< of the version; the wanted one, or with "-2" and so on when that was taken
  std::string folder;                ///< "<prefix>/versions/<name>"
  std::vector<std::string> removed;  ///< names of older versions that went
  std::string leftover;              ///< why something old could not be removed; empty: nothing was left
};

/// The folder that installations live in:
///
///   lock, cache/, versions/<name>/, staging-<pid>-<n>/, current -> versions/<name>
///
/// A version is complete before its folder gets its name, and does not change afterwards; `current` is switched by one
/// rename(2). So a process that dies at any moment leaves `current` as it was or as it was to be, and rubbish that the
/// next holder of the lock sweeps up.
class Store {
 public:
  /// Makes the folders of the prefix. Errors: not a folder, not writable, read-only, of another user (root too may not
  /// write into somebody else's prefix, nor make one below somebody else's folder), less than `least_bytes` free.
  [[nodiscard]] static Result<Store> open(const std::string& prefix, std::uint64_t least_bytes = 32ull << 20);

  /// As the user gave it, made absolute.
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  [[nodiscard]] std::string cache_folder() const { return prefix_ + "/cache"; }

  /// Told five times a second while somebody else holds the prefix, with that process' number (empty: not known); false
  /// gives up.
  using Waiting = std::function<bool(const std::string& holder)>;

  /// Takes the prefix, and sweeps up what a killed build has left. Errors: given up ("interrupted while waiting ..."),
  /// no locks on that filesystem.
  [[nodiscard]] Result<StoreLock> lock(const Waiting& waiting) const;

  /// A new empty folder to build a version in.
  [[nodiscard]] Result<std::string> stage(const StoreLock& lock) const;

  /// Puts the staged folder on the disk, gives it the name below versions/ and switches `current` to it. The version
  /// that was current before stays, older ones go. The stage must hold a manifest.json. After an Error `current` is as
  /// it was.
  [[nodiscard]] Result<Published> publish(const StoreLock& lock, const std::string& stage,
                                          const std::string& name) const;

  /// Removes staged folders and half-switched links. nullopt: done.
  [[nodiscard]] std::optional<Error> sweep(const StoreLock& lock) const;

  enum class Clean { keep_current, everything };

  /// Removes the cache and all versions, but the current one unless everything goes. The names of what went, relative
  /// to the prefix.
  [[nodiscard]] Result<std::vector<std::string>> clean(const StoreLock& lock, Clean what) const;

  /// The folder that `current` leads to, resolved; nullopt: nothing is installed, or the link leads nowhere.
  [[nodiscard]] std::optional<std::string> current() const;

 private:
  explicit Store(std::string prefix) : prefix_(std::move(prefix)) {}

  [[nodiscard]] std::string versions_folder() const { return prefix_ + "/versions"; }
  [[nodiscard]] std::string current_link() const { return prefix_ + "/current"; }
  [[nodiscard]] std::string current_name() const;
  [[nodiscard]] std::string free_version_name(const std::string& wanted) const;
  [[nodiscard]] std::optional<Error> switch_current(const std::string& name) const;

  std::string prefix_;
};

}  // namespace sage
