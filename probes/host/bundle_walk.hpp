#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/code_object/bundle.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// Reads `count` bytes of a file at `offset`, fewer where the file ends.
using ReadPiece = std::function<Result<std::string>(std::uint64_t offset, std::size_t count)>;

/// Where walk_bundles() stops, in sum over all bundles.
struct BundleWalkLimits {
  std::size_t bundles = 16 * 1024;
  std::uint64_t bytes = 128 * 1024 * 1024;
  std::chrono::milliseconds time{1000};
};

/// One offload bundle in a file.
struct FoundBundle {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size = 0;    ///< in the file
  bool compressed = false;
  std::uint64_t plain_size = 0;                   ///< decompressed, by its own account; of a plain one its size
  std::vector<code_object::BundleEntry> entries;  ///< places in the plain bundle; none when its table is unreadable
};

struct BundleWalk {
  std::vector<FoundBundle> bundles;
  std::string incomplete;  ///< why there may be more than this; empty when this is all
};

/// All offload bundles in `size` bytes of a file from `offset` on, one after the other, padded with zeros
/// (facts/wheels.md 2.12). Only their tables are read, and of compressed ones (CCOB) as much as gives the table.
/// A size that does not fit ends the walk, with the reason in `incomplete`.
[[nodiscard]] BundleWalk walk_bundles(const ReadPiece& read, std::uint64_t offset, std::uint64_t size,
                                      const BundleWalkLimits& limits = {});

/// The GPU targets that the bundles have an entry for, sorted, each once: "gfx90a:xnack-", "amdgcnspirv". What is no
/// plain word is left out, since it comes from a file that anyone may have written.
[[nodiscard]] std::vector<std::string> bundled_targets(const BundleWalk& walk);

}  // namespace sage
