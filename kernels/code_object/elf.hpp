// The parts of a little-endian ELF64 file that GPU code objects use: header, segments, sections, notes, symbols.
// A view: it keeps no copy of the file, and names and slices point into it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "bytes.hpp"

namespace sage::code_object {

struct ElfHeader {
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t segment_offset = 0;
  std::uint64_t section_offset = 0;
  std::uint16_t segment_entry_size = 0;
  std::uint16_t segment_count = 0;
  std::uint16_t section_entry_size = 0;
  std::uint16_t section_count = 0;
  std::uint16_t section_names_index = 0;
};

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
};

struct ElfSection {
  std::string_view name;  // empty when the name table is absent or the name lies outside of it
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint64_t entry_size = 0;
};

struct ElfSymbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint8_t type = 0;
  std::uint8_t binding = 0;
  std::uint16_t section = 0;
};

struct ElfNote {
  std::string_view owner;  // without the terminating NUL
  std::uint32_t type = 0;
  ByteSpan contents;
  std::uint64_t offset = 0;  // of the contents in the file
};

namespace elf {
constexpr std::uint16_t type_relocatable = 1;
constexpr std::uint16_t type_shared = 3;
constexpr std::uint16_t machine_amdgpu = 224;
constexpr std::uint16_t machine_cuda = 190;
constexpr std::uint32_t segment_load = 1;
constexpr std::uint32_t segment_note = 4;
constexpr std::uint32_t segment_executable = 1;  // flag
constexpr std::uint32_t section_symtab = 2;
constexpr std::uint32_t section_note = 7;
constexpr std::uint32_t section_nobits = 8;
constexpr std::uint32_t section_dynsym = 11;
constexpr std::uint8_t symbol_object = 1;
constexpr std::uint8_t symbol_function = 2;
constexpr std::size_t header_size = 64;
}  // namespace elf

// Needs only the first 64 bytes of the file: enough to tell the machine and the target of a code object.
[[nodiscard]] Result<ElfHeader> read_elf_header(ByteSpan file);

class ElfFile {
 public:
  [[nodiscard]] static Result<ElfFile> open(ByteSpan file);

  [[nodiscard]] const ElfHeader& header() const { return header_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const Bytes& bytes() const { return file_; }

  [[nodiscard]] Result<ByteSpan> contents(const ElfSection& section) const;

  // Position in the file of `length` bytes at a virtual address, when one PT_LOAD holds all of them.
  [[nodiscard]] std::optional<std::uint64_t> file_offset(std::uint64_t address, std::uint64_t length) const;

  // The first note with this owner and type, looked for in PT_NOTE segments, then in note sections.
  [[nodiscard]] Result<std::optional<ElfNote>> find_note(std::string_view owner, std::uint32_t type) const;

  // Calls `visit` for every symbol of the tables of this section type. Names may overlap in a hostile string table, so
  // the characters read are counted, and more than eight times the file's size is Errc::too_large.
  [[nodiscard]] std::optional<Error> for_each_symbol(std::uint32_t section_type,
                                                     const std::function<void(const ElfSymbol&)>& visit) const;

 private:
  explicit ElfFile(ByteSpan file) : file_{file} {}
  [[nodiscard]] std::optional<Error> read_segments();
  [[nodiscard]] std::optional<Error> read_sections();
  [[nodiscard]] Result<std::optional<ElfNote>> find_note_in(std::uint64_t offset, std::uint64_t size,
                                                            std::string_view owner, std::uint32_t type) const;

  Bytes file_;
  ElfHeader header_;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> sections_;
};

}  // namespace sage::code_object
