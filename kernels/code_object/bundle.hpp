// Offload bundles: the container in which compilers put one code object per GPU target, in a file of its own or in the
// .hip_fatbin section of a host library. Plain bundles are read in place; compressed ones (compressed_bundle.hpp) hold
// a plain one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"

namespace sage::code_object {

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+" taken apart. Three-field triples of old compilers are understood too.
struct BundleId {
  std::string kind;       // "host", "hip", "hipv4", "openmp"
  std::string processor;  // "amdgcn", "x86_64", "spirv64"
  std::string target;     // "gfx90a:xnack+", "amdgcnspirv"; empty for the host
};
[[nodiscard]] BundleId parse_bundle_id(std::string_view id);

struct BundleEntry {
  std::string id;
  std::uint64_t offset = 0;  // from the start of the bundle
  std::uint64_t size = 0;

  [[nodiscard]] BundleId parsed() const { return parse_bundle_id(id); }
};

struct BundleTable {
  std::vector<BundleEntry> entries;
  std::uint64_t header_size = 0;
  std::uint64_t size = 0;  // up to the end of the last entry's contents
};

enum class BundleKind : std::uint8_t { none, plain, compressed };
[[nodiscard]] BundleKind bundle_kind(ByteSpan first_bytes);

// `start` needs to hold only the table, `available` is the number of bytes of the whole container from there on: a
// library of a gigabyte is listed by reading its first kilobytes. When `start` is too short for the table, the error is
// Errc::truncated and Error::offset says how far it has been read; reading more and trying again is right then.
[[nodiscard]] Result<BundleTable> read_bundle_table(ByteSpan start, std::uint64_t available);

// The contents of one entry of a bundle that is in memory as a whole.
[[nodiscard]] Result<ByteSpan> bundle_contents(ByteSpan bundle, const BundleEntry& entry);

struct BundleExtent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  BundleKind kind = BundleKind::none;
};

// All bundles of a file or section: a program of several sources has one for each, padded with zeros to a page.
[[nodiscard]] Result<std::vector<BundleExtent>> find_bundles(ByteSpan section);

}  // namespace sage::code_object
