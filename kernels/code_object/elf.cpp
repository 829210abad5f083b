#include "elf.hpp"

#include <algorithm>

namespace sage::code_object {
namespace {

constexpr std::uint64_t segment_entry_size = 56;
constexpr std::uint64_t section_entry_size = 64;
constexpr std::uint64_t symbol_entry_size = 24;
constexpr std::uint8_t class_64 = 2;
constexpr std::uint8_t little_endian = 1;
constexpr std::uint16_t names_index_extended = 0xffff;

std::uint64_t align4(std::uint64_t value) {
  return (value + 3U) & ~std::uint64_t{3};
}

}  // namespace

Result<ElfHeader> read_elf_header(ByteSpan file) {
  const Bytes bytes{file};
  constexpr std::string_view magic{
      "\x7f"
      "ELF"};
  if (!bytes.starts_with(0, magic)) {
    if (bytes.size() < magic.size() && magic.starts_with(as_text(file))) {
      return Error{Errc::truncated, 0, "ELF header: " + std::to_string(file.size()) + " bytes of 64"};
    }
    return Error{Errc::bad_magic, 0, "not an ELF file"};
  }
  if (file.size() < elf::header_size)
    return Error{Errc::truncated, 0, "ELF header: " + std::to_string(file.size()) + " bytes of 64"};
  if (*bytes.u8(4) != class_64) return Error{Errc::unsupported, 4, "not a 64-bit ELF file"};
  if (*bytes.u8(5) != little_endian) return Error{Errc::unsupported, 5, "not a little-endian ELF file"};

  ElfHeader header;
  header.os_abi = *bytes.u8(7);
  header.abi_version = *bytes.u8(8);
  header.type = *bytes.u16(16);
  header.machine = *bytes.u16(18);
  header.segment_offset = *bytes.u64(32);
  header.section_offset = *bytes.u64(40);
  header.flags = *bytes.u32(48);
  header.segment_entry_size = *bytes.u16(54);
  header.segment_count = *bytes.u16(56);
  header.section_entry_size = *bytes.u16(58);
  header.section_count = *bytes.u16(60);
  header.section_names_index = *bytes.u16(62);
  return header;
}

Result<ElfFile> ElfFile::open(ByteSpan file) {
  const auto header = read_elf_header(file);
  if (!header) return header.error();
  ElfFile elf{file};
  elf.header_ = *header;
  if (const auto error = elf.read_segments()) return *error;
  if (const auto error = elf.read_sections()) return *error;
  return elf;
}

std::optional<Error> ElfFile::read_segments() {
  if (header_.segment_count == 0) return std::nullopt;
  if (header_.segment_entry_size != segment_entry_size) {
    return Error{Errc::malformed, 54,
                 "program header entries of " + std::to_string(header_.segment_entry_size) + " bytes instead of 56"};
  }
  const auto table =
      file_.slice(header_.segment_offset, header_.segment_count * segment_entry_size, "program header table");
  if (!table) return table.error();
  for (std::uint64_t i = 0; i < header_.segment_count; ++i) {
    const std::uint64_t at = header_.segment_offset + i * segment_entry_size;
    const ElfSegment segment{*file_.u32(at), *file_.u32(at + 4), *file_.u64(at + 8), *file_.u64(at + 16),
                             *file_.u64(at + 32)};
    const bool used = segment.type == elf::segment_load || segment.type == elf::segment_note;
    if (used) {
      const auto held = file_.slice(segment.offset, segment.file_size, "segment " + std::to_string(i));
      if (!held) return held.error();
    }
    segments_.push_back(segment);
  }
  return std::nullopt;
}

std::optional<Error> ElfFile::read_sections() {
  if (header_.section_offset == 0) return std::nullopt;
  if (header_.section_entry_size != section_entry_size) {
    return Error{Errc::malformed, 58,
                 "section header entries of " + std::to_string(header_.section_entry_size) + " bytes instead of 64"};
  }
  const auto first = file_.slice(header_.section_offset, section_entry_size, "section header table");
  if (!first) return first.error();
  // With 65280 sections or more the count is in the size field of section 0, 64 bits wide and as hostile as any.
  std::uint64_t count = header_.section_count;
  if (count == 0) count = *file_.u64(header_.section_offset + 32);
  if (count > (file_.size() - header_.section_offset) / section_entry_size) {
    return Error{Errc::truncated, header_.section_offset,
                 "section header table: " + std::to_string(count) + " sections do not fit into a file of " +
                     std::to_string(file_.size()) + " bytes"};
  }
  std::uint64_t names_index = header_.section_names_index;
  if (names_index == names_index_extended) names_index = *file_.u32(header_.section_offset + 40);

  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = header_.section_offset + i * section_entry_size;
    name_offsets.push_back(*file_.u32(at));
    sections_.push_back(
        {{}, *file_.u32(at + 4), *file_.u64(at + 24), *file_.u64(at + 32), *file_.u32(at + 40), *file_.u64(at + 56)});
  }
  // Whoever loads the file after us is not told its size, so every section must be inside, whether it is read here or
  // not.
  for (const ElfSection& section : sections_) {
    const auto held = contents(section);
    if (!held) return held.error();
  }
  if (names_index >= count) return std::nullopt;
  const auto names = contents(sections_[static_cast<std::size_t>(names_index)]);
  if (!names) return names.error();
  const Bytes table{*names};
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    // Section names are short; one that is not is left empty rather than read to its end for each section.
    constexpr std::uint64_t longest = 256;
    const std::uint64_t start = name_offsets[i];
    if (start >= table.size()) continue;
    const auto name = Bytes{*table.try_slice(start, std::min(longest, table.size() - start))}.c_string(0);
    if (name) sections_[i].name = *name;
  }
  return std::nullopt;
}

Result<ByteSpan> ElfFile::contents(const ElfSection& section) const {
  if (section.type == elf::section_nobits) return ByteSpan{};
  return file_.slice(section.offset, section.size, "section " + printable(section.name));
}

std::optional<std::uint64_t> ElfFile::file_offset(std::uint64_t address, std::uint64_t length) const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != elf::segment_load || address < segment.address) continue;
    const std::uint64_t inside = address - segment.address;
    if (inside <= segment.file_size && length <= segment.file_size - inside) return segment.offset + inside;
  }
  return std::nullopt;
}

Result<std::optional<ElfNote>> ElfFile::find_note_in(std::uint64_t offset, std::uint64_t size, std::string_view owner,
                                                     std::uint32_t type) const {
  const auto region = file_.slice(offset, size, "notes");
  if (!region) return region.error();
  const Bytes notes{*region};
  std::uint64_t at = 0;
  while (at < notes.size()) {
    const auto name_size = notes.u32(at);
    const auto contents_size = notes.u32(at + 4);
    const auto note_type = notes.u32(at + 8);
    if (!name_size || !contents_size || !note_type) return Error{Errc::truncated, offset + at, "note header cut off"};
    const std::uint64_t name_at = at + 12;
    const std::uint64_t contents_at = name_at + align4(*name_size);
    const auto name = notes.try_slice(name_at, *name_size);
    const auto contents = notes.try_slice(contents_at, *contents_size);
    if (!name || !contents)
      return Error{Errc::truncated, offset + at,
                   "note of " + std::to_string(*contents_size) + " bytes does not fit into its segment"};
    std::string_view name_text = as_text(*name);
    if (name_text.ends_with('\0')) name_text.remove_suffix(1);
    if (name_text == owner && *note_type == type)
      return std::optional{ElfNote{name_text, type, *contents, offset + contents_at}};
    at = contents_at + align4(*contents_size);
  }
  return std::optional<ElfNote>{};
}

Result<std::optional<ElfNote>> ElfFile::find_note(std::string_view owner, std::uint32_t type) const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != elf::segment_note) continue;
    const auto note = find_note_in(segment.offset, segment.file_size, owner, type);
    if (!note || note->has_value()) return note;
  }
  for (const ElfSection& section : sections_) {
    if (section.type != elf::section_note) continue;
    const auto note = find_note_in(section.offset, section.size, owner, type);
    if (!note || note->has_value()) return note;
  }
  return std::optional<ElfNote>{};
}

std::optional<Error> ElfFile::for_each_symbol(std::uint32_t section_type,
                                              const std::function<void(const ElfSymbol&)>& visit) const {
  std::uint64_t characters = 0;
  const std::uint64_t most_characters = 8 * std::min(file_.size(), std::uint64_t{1} << 40U);
  for (const ElfSection& section : sections_) {
    if (section.type != section_type) continue;
    if (section.entry_size != symbol_entry_size)
      return Error{Errc::malformed, section.offset,
                   "symbol entries of " + std::to_string(section.entry_size) + " bytes instead of 24"};
    if (section.link >= sections_.size())
      return Error{Errc::out_of_range, section.offset,
                   "symbol table linked to section " + std::to_string(section.link)};
    const auto table = contents(section);
    if (!table) return table.error();
    const auto strings = contents(sections_[section.link]);
    if (!strings) return strings.error();
    const Bytes symbols{*table};
    const Bytes names{*strings};
    for (std::uint64_t at = 0; symbols.contains(at, symbol_entry_size); at += symbol_entry_size) {
      const std::uint32_t name_at = *symbols.u32(at);
      const auto name = names.c_string(name_at);
      if (!name) {
        if (name_at == 0) continue;  // the empty name of a table without strings
        return Error{
            Errc::out_of_range, section.offset + at,
            "symbol name at " + hex(name_at) + " of a string table of " + std::to_string(names.size()) + " bytes"};
      }
      characters += name->size();
      if (characters > most_characters)
        return Error{Errc::too_large, section.offset + at, "symbol names overlap too much"};
      const std::uint8_t info = *symbols.u8(at + 4);
      visit({*name, *symbols.u64(at + 8), *symbols.u64(at + 16), static_cast<std::uint8_t>(info & 0xfU),
             static_cast<std::uint8_t>(info >> 4U), *symbols.u16(at + 6)});
    }
  }
  return std::nullopt;
}

}  // namespace sage::code_object
