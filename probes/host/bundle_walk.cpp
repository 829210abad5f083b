#include "probes/host/bundle_walk.hpp"

// A ROCm library carries code for a dozen targets in hundreds of bundles, one for each source, a gigabyte in all. Their
// tables are a few hundred bytes at the start of each; the table says how long the bundle is, and so where the next one
// starts, behind zeros up to a page. A compressed bundle says its length in its header, and its table is the start of
// the compressed stream: zstd gives nothing before it has a whole block (up to 128 KiB), so the piece that is read of
// such a bundle grows until the table is there.
//
// Nothing in the file is trusted: every bundle is at least as long as its header, so the walk moves on, and it ends at
// the limits whatever the bundles say.

#include <algorithm>
#include <set>

#include "kernels/code_object/compressed_bundle.hpp"

namespace sage {
namespace {

using code_object::as_bytes;
using code_object::BundleKind;
using code_object::BundleTable;
using code_object::ByteSpan;
using code_object::Errc;

constexpr std::size_t first_piece = 16 * 1024;
constexpr std::size_t largest_piece = 1024 * 1024;  // 65,536 entries do not fit, but no compiler writes a hundred
constexpr std::size_t plain_start = 64 * 1024;      // of a compressed bundle: room for its table
constexpr std::size_t longest_target = 64;

using Clock = std::chrono::steady_clock;

class Walker {
 public:
  Walker(const ReadPiece& read, std::uint64_t offset, std::uint64_t size, const BundleWalkLimits& limits)
      : read_(read), offset_(offset), size_(size), limits_(limits), deadline_(Clock::now() + limits.time) {}

  BundleWalk walk() {
    std::uint64_t at = 0;
    while (at < size_ && walk_.incomplete.empty()) {
      std::string start = piece(at, first_piece);
      if (start.empty()) break;
      if (!walk_.bundles.empty()) {  // zeros are padding between bundles, not in front of the first
        const std::size_t padding = std::min(start.find_first_not_of('\0'), start.size());
        at += padding;
        if (padding == start.size()) continue;
        start.erase(0, padding);
      }
      if (walk_.bundles.size() == limits_.bundles) {
        stop("more than " + std::to_string(limits_.bundles) + " bundles");
        break;
      }
      at += take_bundle(at, std::move(start));
    }
    return std::move(walk_);
  }

 private:
  /// The first reason counts.
  void stop(const std::string& why) {
    if (walk_.incomplete.empty()) walk_.incomplete = why;
  }

  /// At most `count` bytes at `at`, within the room; empty when the walk is to end.
  std::string piece(std::uint64_t at, std::uint64_t count) {
    const auto wanted = static_cast<std::size_t>(std::min(count, size_ - at));
    if (bytes_ + wanted > limits_.bytes || Clock::now() > deadline_) {
      stop("there are more bundles than are ever looked at");
      return {};
    }
    Result<std::string> bytes = read_(offset_ + at, wanted);
    if (!bytes) {
      stop(bytes.error().text);
      return {};
    }
    if (bytes->size() < wanted) stop("the file ends inside of a bundle");
    bytes_ += bytes->size();
    return std::move(bytes).value();
  }

  /// Notes the bundle whose first bytes these are; its length.
  std::uint64_t take_bundle(std::uint64_t at, std::string start) {
    FoundBundle found;
    found.offset = offset_ + at;
    const BundleKind kind = code_object::bundle_kind(as_bytes(start));
    if (kind == BundleKind::none) {
      stop("no offload bundle at offset " + std::to_string(found.offset));
      return size_ - at;
    }
    found.compressed = kind == BundleKind::compressed;
    if (found.compressed) {
      read_compressed(at, std::move(start), found);
    } else {
      read_plain(at, std::move(start), found);
    }
    const std::uint64_t length = found.size;
    if (length != 0) walk_.bundles.push_back(std::move(found));
    return length == 0 ? size_ - at : length;
  }

  /// `size` stays 0 when the table can't be read.
  void read_plain(std::uint64_t at, std::string start, FoundBundle& found) {
    const std::uint64_t room = size_ - at;
    auto table = code_object::read_bundle_table(as_bytes(start), room);
    while (!table && may_grow(table.error(), start.size(), room)) {
      start = piece(at, start.size() * 8);
      if (start.empty()) return;
      table = code_object::read_bundle_table(as_bytes(start), room);
    }
    if (!table) return stop(table.error().message);
    found.size = table->size;
    found.plain_size = table->size;
    found.entries = std::move(table.value().entries);
  }

  /// The length comes from the header, so that a stream that can't be read does not hide the bundles behind it.
  void read_compressed(std::uint64_t at, std::string start, FoundBundle& found) {
    const std::uint64_t room = size_ - at;
    const auto header = code_object::read_compressed_header(as_bytes(start));
    if (!header) return stop(header.error().message);
    if (!header->total_size) stop("a compressed bundle of version 1 does not say where it ends");
    found.size = header->total_size.value_or(room);
    found.plain_size = header->uncompressed_size;
    if (found.size > room) {
      stop("a compressed bundle of " + std::to_string(found.size) + " bytes in " + std::to_string(room));
      found.size = room;
    }
    while (true) {
      const std::size_t had = std::min<std::size_t>(start.size(), found.size);
      const auto plain = code_object::decompress_start(as_bytes(std::string_view(start).substr(0, had)), plain_start);
      if (!plain) return stop(plain.error().message);
      auto table = code_object::read_bundle_table(*plain, header->uncompressed_size);
      if (table) {
        found.entries = std::move(table.value().entries);
        return;
      }
      if (plain->size() == plain_start || !may_grow(table.error(), had, found.size)) {
        return stop(table.error().message);
      }
      start = piece(at, std::min<std::uint64_t>(had * std::uint64_t{4}, found.size));
      if (start.empty()) return;
    }
  }

  /// Whether more bytes than `had` can help.
  static bool may_grow(const code_object::Error& error, std::size_t had, std::uint64_t room) {
    return error.code == Errc::truncated && had < room && had < largest_piece;
  }

  const ReadPiece& read_;
  std::uint64_t offset_;
  std::uint64_t size_;
  const BundleWalkLimits& limits_;
  Clock::time_point deadline_;
  std::uint64_t bytes_ = 0;
  BundleWalk walk_;
};

bool is_plain_word(std::string_view text) {
  return !text.empty() && text.size() <= longest_target && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+:.").find(c) != std::string_view::npos;
  });
}

}  // namespace

BundleWalk walk_bundles(const ReadPiece& read, std::uint64_t offset, std::uint64_t size,
                        const BundleWalkLimits& limits) {
  return Walker(read, offset, size, limits).walk();
}

std::vector<std::string> bundled_targets(const BundleWalk& walk) {
  std::set<std::string> targets;
  for (const FoundBundle& bundle : walk.bundles) {
    for (const code_object::BundleEntry& entry : bundle.entries) {
      code_object::BundleId id = entry.parsed();
      if (id.kind != "host" && is_plain_word(id.target)) targets.insert(std::move(id.target));
    }
  }
  return {targets.begin(), targets.end()};
}

}  // namespace sage
