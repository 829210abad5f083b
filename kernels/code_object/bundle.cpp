#include "bundle.hpp"

#include <algorithm>

#include "compressed_bundle.hpp"

namespace sage::code_object {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::uint64_t entry_head = 24;  // offset, size, length of the id
constexpr std::uint64_t most_entries = 65536;
constexpr std::uint64_t longest_id = 4096;
constexpr std::size_t most_bundles = 65536;

std::string_view take_until_dash(std::string_view& rest) {
  const std::size_t dash = std::min(rest.find('-'), rest.size());
  const std::string_view word = rest.substr(0, dash);
  rest.remove_prefix(std::min(dash + 1, rest.size()));
  return word;
}

bool is_target(std::string_view word) {
  return word.starts_with("gfx") || word.starts_with("sm_");
}

}  // namespace

BundleId parse_bundle_id(std::string_view id) {
  std::string_view rest = id;
  BundleId parsed;
  parsed.kind = take_until_dash(rest);
  parsed.processor = take_until_dash(rest);
  take_until_dash(rest);  // vendor
  take_until_dash(rest);  // operating system
  // The fourth field is the environment, nearly always empty; an old id has the target here. A target may itself hold
  // dashes (gfx12-generic, xnack-), so it is whatever is left.
  if (!is_target(rest)) take_until_dash(rest);
  parsed.target = rest;
  return parsed;
}

BundleKind bundle_kind(ByteSpan first_bytes) {
  const Bytes bytes{first_bytes};
  if (bytes.starts_with(0, plain_magic)) return BundleKind::plain;
  if (bytes.starts_with(0, compressed_magic)) return BundleKind::compressed;
  return BundleKind::none;
}

Result<BundleTable> read_bundle_table(ByteSpan start, std::uint64_t available) {
  const Bytes bytes{start};
  if (!bytes.starts_with(0, plain_magic)) {
    const bool prefix = start.size() < plain_magic.size() && plain_magic.starts_with(as_text(start));
    return Error{prefix ? Errc::truncated : Errc::bad_magic, 0, "not an offload bundle"};
  }
  const auto count = bytes.u64(plain_magic.size());
  if (!count) return Error{Errc::truncated, bytes.size(), "bundle: table cut off"};
  std::uint64_t at = plain_magic.size() + 8;
  if (*count > most_entries)
    return Error{Errc::too_large, plain_magic.size(),
                 "bundle: " + std::to_string(*count) + " entries, the cap is " + std::to_string(most_entries)};
  if (*count > (std::max(available, at) - at) / entry_head)
    return Error{Errc::out_of_range, plain_magic.size(),
                 "bundle: " + std::to_string(*count) + " entries in " + std::to_string(available) + " bytes"};

  BundleTable table;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto offset = bytes.u64(at);
    const auto size = bytes.u64(at + 8);
    const auto id_length = bytes.u64(at + 16);
    if (!offset || !size || !id_length)
      return Error{Errc::truncated, bytes.size(), "bundle: table cut off in entry " + std::to_string(i)};
    if (*id_length > longest_id)
      return Error{Errc::too_large, at + 16,
                   "bundle: id of " + std::to_string(*id_length) + " bytes, the cap is " + std::to_string(longest_id)};
    const auto id = bytes.try_slice(at + entry_head, *id_length);
    if (!id) return Error{Errc::truncated, bytes.size(), "bundle: id cut off in entry " + std::to_string(i)};
    if (*offset > available || *size > available - *offset) {
      return Error{Errc::out_of_range, at,
                   "bundle: entry " + printable(as_text(*id)) + " has " + std::to_string(*size) + " bytes at " +
                       hex(*offset) + " of " + std::to_string(available)};
    }
    table.entries.push_back({std::string{as_text(*id)}, *offset, *size});
    at += entry_head + *id_length;
    if (*size != 0) table.size = std::max(table.size, *offset + *size);
  }
  table.header_size = at;
  table.size = std::max(table.size, at);
  for (const BundleEntry& entry : table.entries) {
    if (entry.size != 0 && entry.offset < table.header_size)
      return Error{Errc::out_of_range, 0, "bundle: entry " + printable(entry.id) + " starts inside of the table"};
  }
  return table;
}

Result<ByteSpan> bundle_contents(ByteSpan bundle, const BundleEntry& entry) {
  return Bytes{bundle}.slice(entry.offset, entry.size, "bundle entry " + printable(entry.id));
}

Result<std::vector<BundleExtent>> find_bundles(ByteSpan section) {
  std::vector<BundleExtent> found;
  std::size_t at = 0;
  while (true) {
    const auto rest = section.subspan(at);
    const auto* const next =
        std::find_if(rest.data(), rest.data() + rest.size(), [](std::byte b) { return b != std::byte{0}; });
    const auto padding = static_cast<std::size_t>(next - rest.data());
    if (padding == rest.size() && !found.empty()) return found;
    if (found.size() == most_bundles)
      return Error{Errc::too_large, at, "more than " + std::to_string(most_bundles) + " bundles"};
    // Padding is legal between bundles only.
    if (!found.empty()) at += padding;
    const ByteSpan here = section.subspan(at);
    std::uint64_t size = 0;
    const BundleKind kind = bundle_kind(here);
    if (kind == BundleKind::compressed) {
      const auto header = read_compressed_header(here);
      if (!header) return Error{header.error().code, at + header.error().offset, header.error().message};
      size = header->total_size.value_or(here.size());
      if (size > here.size())
        return Error{Errc::truncated, at,
                     "compressed bundle of " + std::to_string(size) + " bytes in " + std::to_string(here.size())};
    } else {
      const auto table = read_bundle_table(here, here.size());
      if (!table) return Error{table.error().code, at + table.error().offset, table.error().message};
      size = table->size;
    }
    found.push_back({at, size, kind});
    at += static_cast<std::size_t>(size);
  }
}

}  // namespace sage::code_object
