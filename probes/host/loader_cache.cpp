#include "probes/host/loader_cache.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace sage {
namespace {

constexpr std::string_view old_magic = "ld.so-1.7.0";
constexpr std::string_view magic = "glibc-ld.so.cache1.1";
constexpr std::string_view where = "/etc/ld.so.cache: ";

struct OldHeader {
  char magic[11];
  std::uint32_t count;
};
static_assert(sizeof(OldHeader) == 16);
constexpr std::size_t old_entry_size = 12;
constexpr std::size_t header_alignment = 8;
constexpr std::size_t longest_path = 4096;
// Entries may share their texts, so that a small file could unfold into gigabytes.
constexpr std::size_t most_text = 64 * 1024 * 1024;

struct Header {
  char magic[20];
  std::uint32_t count;
  std::uint32_t strings_size;
  std::uint8_t flags;  // low two bits: byte order, 0 unknown, 2 little, 3 big
  std::uint8_t padding[3];
  std::uint32_t extension_offset;
  std::uint32_t unused[3];
};
static_assert(sizeof(Header) == 48);

struct Entry {
  std::int32_t flags;
  std::uint32_t soname_offset;  // both from the start of Header
  std::uint32_t path_offset;
  std::uint32_t os_version;
  std::uint64_t hwcap;
};
static_assert(sizeof(Entry) == 24);

// Low byte: kind, 3 = ELF for glibc 2. High byte: architecture (glibc: FLAG_X8664_LIB64, FLAG_AARCH64_LIB64).
constexpr std::int32_t kind_bits = 0x00ff;
constexpr std::int32_t elf_for_glibc = 0x0003;
#if defined(__x86_64__)
constexpr std::optional<std::int32_t> own_flags = 0x0303;
#elif defined(__aarch64__)
constexpr std::optional<std::int32_t> own_flags = 0x0a03;
#else
constexpr std::optional<std::int32_t> own_flags = std::nullopt;
#endif
constexpr std::uint8_t byte_order_bits = 3;
constexpr std::uint8_t other_byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 3 : 2;

Error broken(std::string_view why) {
  return {0, std::string(where) + std::string(why) + "; `sudo ldconfig` rewrites it"};
}

bool is_ours(const Entry& entry) {
  return own_flags ? entry.flags == *own_flags : (entry.flags & kind_bits) == elf_for_glibc;
}

/// The text that starts at `offset`; nullopt when it does not end within the file or is longer than a path.
std::optional<std::string_view> text_at(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const std::string_view rest = bytes.substr(offset, longest_path);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

/// Where the new format begins, behind the old one if there is one.
std::optional<std::string_view> new_format(std::string_view bytes) {
  if (bytes.starts_with(old_magic)) {
    if (bytes.size() < sizeof(OldHeader)) return std::nullopt;
    OldHeader old{};
    std::memcpy(&old, bytes.data(), sizeof old);
    std::size_t end = sizeof old + std::size_t{old.count} * old_entry_size;
    end = (end + header_alignment - 1) / header_alignment * header_alignment;
    if (end > bytes.size()) return std::nullopt;
    bytes.remove_prefix(end);
  }
  if (!bytes.starts_with(magic)) return std::nullopt;
  return bytes;
}

}  // namespace

Result<std::vector<LoaderCacheEntry>> parse_loader_cache(std::string_view bytes) {
  const auto found = new_format(bytes);
  if (!found) return broken("not in the format glibc-ld.so.cache1.1");
  const std::string_view cache = *found;
  if (cache.size() < sizeof(Header)) return broken("the header is cut off");
  Header header{};
  std::memcpy(&header, cache.data(), sizeof header);
  if ((header.flags & byte_order_bits) == other_byte_order) return broken("written for the other byte order");
  if (header.count > (cache.size() - sizeof header) / sizeof(Entry)) return broken("the list of libraries is cut off");

  std::vector<LoaderCacheEntry> entries;
  entries.reserve(header.count);
  std::size_t text_size = 0;
  for (std::size_t i = 0; i < header.count; ++i) {
    Entry entry{};
    std::memcpy(&entry, cache.data() + sizeof header + i * sizeof entry, sizeof entry);
    if (!is_ours(entry)) continue;
    const auto soname = text_at(cache, entry.soname_offset);
    const auto path = text_at(cache, entry.path_offset);
    if (!soname || !path) return broken("entry " + std::to_string(i) + " points outside the file");
    text_size += soname->size() + path->size();
    if (text_size > most_text) return broken("the names in it are too long");
    entries.push_back({std::string(*soname), std::string(*path)});
  }
  return entries;
}

}  // namespace sage
