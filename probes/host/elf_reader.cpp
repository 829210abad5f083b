#include "probes/host/elf_reader.hpp"

// Shared libraries here may have a gigabyte (a ROCm torch) and come from anywhere, so only the few pieces that matter
// are read, by pread(2): a mapped file that shrinks meanwhile would end the program with SIGBUS. libelf turns the
// pieces into numbers of this machine whatever their class and byte order; where the pieces lie and how long they are
// is checked here first, since libelf allocates what a header asks for. What the loader sees is found as the loader
// finds it, through the program headers; only .dynsym's length, .rodata and .hip_fatbin need the section headers.

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <type_traits>

#include "probes/base/text.hpp"
#include "probes/host/bundle_walk.hpp"
#include "probes/host/elf_versions.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;
constexpr std::uint64_t most_dynamic_bytes = mebibyte;
constexpr std::uint64_t most_names_bytes = 64 * mebibyte;
constexpr std::uint64_t most_symbol_bytes = 64 * mebibyte;
constexpr std::uint64_t most_note_bytes = 64 * 1024;
constexpr std::uint64_t most_rodata_bytes = 64 * mebibyte;
constexpr std::uint64_t most_version_bytes = mebibyte / 4;
constexpr std::size_t most_device_sections = 64;  // a library has one, a relocatable object some
constexpr std::size_t most_listed = 4096;         // DT_NEEDED entries
constexpr std::size_t usual_name = 1024;
constexpr std::size_t longest_name = 256 * 1024;  // Bazel writes runpaths of many kilobytes
constexpr std::size_t search_block = mebibyte;

using ElfHandle = std::unique_ptr<Elf, int (*)(Elf*)>;

Error broken(std::string_view why) {
  return {ENOEXEC, "damaged ELF file: " + std::string(why)};
}

/// libelf allocates a table for every section that the header announces, so an absurd number is refused before.
template <class Header, class Section>
bool section_table_fits(const std::string& start, std::uint64_t file_size) {
  Header header{};
  if (start.size() < sizeof header) return false;
  std::memcpy(&header, start.data(), sizeof header);
  // A count of zero with a table means "more than 65,279, look into section 0", which no library here needs.
  if (header.e_shoff == 0) return true;
  if (header.e_shnum == 0 || header.e_phnum == PN_XNUM) return false;
  return header.e_shentsize == sizeof(Section) && header.e_shoff <= file_size &&
         std::uint64_t{header.e_shnum} * sizeof(Section) <= file_size - header.e_shoff;
}

std::string machine_name(unsigned machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  return std::to_string(machine);
}

class Reader {
 public:
  Reader(int file, std::uint64_t file_size, Elf* elf) : file_(file), file_size_(file_size), elf_(elf) {}

  Result<ElfFacts> read(const ElfQuery& query) {
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header) == nullptr) return broken("no header");
    if (header.e_type != ET_DYN && header.e_type != ET_EXEC && header.e_type != ET_REL) {
      return broken("neither library, program nor object");
    }
    facts_.bits = gelf_getclass(elf_) == ELFCLASS32 ? 32 : 64;
    facts_.machine = machine_name(header.e_machine);
    if (auto error = read_segments()) return *error;
    if (auto error = answer_versions(query)) return *error;
    if (auto error = answer_symbols(query)) return *error;
    if (auto error = answer_strings(query)) return *error;
    if (auto error = answer_device_code(query)) return *error;
    return std::move(facts_);
  }

  Result<ElfExports> exports(std::size_t most) {
    std::set<std::string> names;
    ElfExports found;
    const auto error = for_each_defined([&](const GElf_Sym& symbol, std::string_view rest) {
      const auto binding = GELF_ST_BIND(symbol.st_info);
      const auto visibility = GELF_ST_VISIBILITY(symbol.st_other);
      const std::size_t end = rest.find('\0');
      const bool visible = visibility == STV_DEFAULT || visibility == STV_PROTECTED;
      if (binding == STB_LOCAL || !visible || end == 0 || end > longest_name) return;
      if (names.size() == most) found.complete = false;
      if (names.size() < most) names.emplace(rest.substr(0, end));
    });
    if (error) return *error;
    found.names.assign(names.begin(), names.end());
    return found;
  }

  Result<std::vector<ElfSectionPlace>> device_code() {
    const auto names = section_names();
    if (!names.ok()) return names.error();
    std::vector<ElfSectionPlace> places;
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf_, section)) != nullptr) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || name_in(*names, header.sh_name) != ".hip_fatbin") continue;
      if (places.size() == most_device_sections) return broken("more than 64 sections .hip_fatbin");
      const bool in_file = header.sh_type != SHT_NOBITS;
      if (in_file && !inside(header.sh_offset, header.sh_size)) return broken(".hip_fatbin lies outside the file");
      places.push_back({header.sh_offset, header.sh_size, in_file});
    }
    return places;
  }

 private:
  using Failure = std::optional<Error>;

  [[nodiscard]] bool inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= file_size_ && size <= file_size_ - offset;
  }

  /// A piece of the file in this machine's numbers; owned by the Elf.
  Elf_Data* piece(std::uint64_t offset, std::uint64_t size, Elf_Type type) {
    return inside(offset, size) && size != 0 ? elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(offset), size, type)
                                             : nullptr;
  }

  /// File offset of a loaded address.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const GElf_Phdr& segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        const std::uint64_t offset = segment.p_offset + (address - segment.p_vaddr);
        if (offset < file_size_) return offset;
      }
    }
    return std::nullopt;
  }

  Failure read_segments() {
    std::size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return broken("no program headers");
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) return broken("program headers are cut off");
      segments_.push_back(segment);
    }
    for (const GElf_Phdr& segment : segments_) {
      Failure failure;
      if (segment.p_type == PT_DYNAMIC) failure = read_dynamic(segment);
      if (segment.p_type == PT_NOTE) failure = read_notes(segment);
      if (failure) return failure;
    }
    return std::nullopt;
  }

  Failure read_dynamic(const GElf_Phdr& segment) {
    if (segment.p_filesz == 0) return std::nullopt;  // a file of debug information only
    if (segment.p_filesz > most_dynamic_bytes) return broken("the dynamic section is too long");
    Elf_Data* const data = piece(segment.p_offset, segment.p_filesz, ELF_T_DYN);
    if (data == nullptr) return broken("the dynamic section lies outside the file");

    std::vector<GElf_Dyn> entries;
    std::uint64_t names_address = 0;
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      if (entry.d_tag == DT_STRTAB) names_address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) names_size_ = entry.d_un.d_val;
      if (entry.d_tag == DT_VERNEED) needs_.address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_VERNEEDNUM) needs_.count = entry.d_un.d_val;
      if (entry.d_tag == DT_VERDEF) definitions_.address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_VERDEFNUM) definitions_.count = entry.d_un.d_val;
      entries.push_back(entry);
    }
    names_offset_ = offset_of(names_address);
    const auto is_name = [](const GElf_Dyn& e) {
      return e.d_tag == DT_NEEDED || e.d_tag == DT_SONAME || e.d_tag == DT_RPATH || e.d_tag == DT_RUNPATH;
    };
    entries.erase(std::remove_if(entries.begin(), entries.end(), [&](const GElf_Dyn& e) { return !is_name(e); }),
                  entries.end());
    if (entries.empty()) return std::nullopt;
    if (entries.size() > most_listed) return broken("more than 4,096 needed libraries");

    if (!names_offset_ || names_size_ > most_names_bytes) return broken("the names lie outside the file");
    for (const GElf_Dyn& named : entries) {
      const auto name = name_at(*names_offset_, names_size_, named.d_un.d_val);
      if (!name) return broken("a name in the dynamic section lies outside the file");
      note_name(named.d_tag, *name);
    }
    return std::nullopt;
  }

  /// A chain of version records, as the dynamic section tells it.
  struct Chain {
    std::uint64_t address = 0;
    std::uint64_t count = 0;
  };

  /// From the start of the chain on; the records say where it ends.
  Result<std::string> bytes_of(const Chain& chain) const {
    const auto offset = offset_of(chain.address);
    if (!offset || !names_offset_) return broken("the symbol versions lie outside the file");
    return file_calls::read_at(file_, *offset, std::min(most_version_bytes, file_size_ - *offset));
  }

  Failure answer_versions(const ElfQuery& query) {
    if (!query.versions) return std::nullopt;
    const auto name = [this](std::uint64_t start) { return name_at(*names_offset_, names_size_, start); };
    if (needs_.count != 0) {
      const auto bytes = bytes_of(needs_);
      if (!bytes.ok()) return bytes.error();
      auto needs = parse_version_needs(*bytes, needs_.count, name);
      if (!needs.ok()) return needs.error();
      facts_.version_needs = std::move(needs).value();
    }
    if (definitions_.count != 0) {
      const auto bytes = bytes_of(definitions_);
      if (!bytes.ok()) return bytes.error();
      auto definitions = parse_version_definitions(*bytes, definitions_.count, name);
      if (!definitions.ok()) return definitions.error();
      facts_.version_definitions = std::move(definitions).value();
    }
    return std::nullopt;
  }

  void note_name(std::int64_t tag, const std::string& name) {
    const auto folders = [&] {
      std::vector<std::string> list;
      for (const std::string_view folder : split(name, ':')) list.emplace_back(folder);
      return list;
    };
    if (tag == DT_NEEDED) facts_.needed.push_back(name);
    if (tag == DT_SONAME) facts_.soname = name;
    if (tag == DT_RPATH) facts_.rpath = folders();
    if (tag == DT_RUNPATH) facts_.runpath = folders();
  }

  /// The name at `start` of a table of names; nullopt when it does not end within the table.
  std::optional<std::string> name_at(std::uint64_t table, std::uint64_t size, std::uint64_t start) const {
    if (start >= size || !inside(table, size)) return std::nullopt;
    for (const std::size_t most : {usual_name, longest_name}) {
      const auto bytes = file_calls::read_at(file_, table + start, std::min<std::uint64_t>(size - start, most));
      if (!bytes.ok()) return std::nullopt;
      const std::size_t end = bytes->find('\0');
      if (end != std::string::npos) return bytes->substr(0, end);
    }
    return std::nullopt;
  }

  Failure read_notes(const GElf_Phdr& segment) {
    if (!facts_.build_id.empty() || segment.p_filesz == 0 || segment.p_filesz > most_note_bytes) return std::nullopt;
    const Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    Elf_Data* const data = piece(segment.p_offset, segment.p_filesz, type);
    if (data == nullptr) return broken("a note lies outside the file");
    GElf_Nhdr note;
    std::size_t name = 0;
    std::size_t text = 0;
    std::size_t at = 0;
    while ((at = gelf_getnote(data, at, &note, &name, &text)) != 0) {
      const auto* const bytes = static_cast<const unsigned char*>(data->d_buf);
      const bool gnu = note.n_namesz == 4 && std::memcmp(bytes + name, "GNU", 4) == 0;
      if (!gnu || note.n_type != NT_GNU_BUILD_ID) continue;
      for (std::size_t i = 0; i < note.n_descsz; ++i) facts_.build_id += hex(bytes[text + i], 2);
      return std::nullopt;
    }
    return std::nullopt;
  }

  template <class Wanted>
  std::optional<GElf_Shdr> find_section(const Wanted& wanted) {
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf_, section)) != nullptr) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr && wanted(header)) return header;
    }
    return std::nullopt;
  }

  /// Calls `visit(symbol, rest)` for what .dynsym defines; `rest` begins with the symbol's name and its NUL.
  template <class Visit>
  Failure for_each_defined(const Visit& visit) {
    const auto table = find_section([](const GElf_Shdr& s) { return s.sh_type == SHT_DYNSYM; });
    if (!table) return broken("no .dynsym to look for symbols in");
    Elf_Scn* const names_section = elf_getscn(elf_, table->sh_link);
    GElf_Shdr names_header;
    if (names_section == nullptr || gelf_getshdr(names_section, &names_header) == nullptr ||
        table->sh_size > most_symbol_bytes || names_header.sh_size > most_names_bytes ||
        !inside(names_header.sh_offset, names_header.sh_size)) {
      return broken(".dynsym has no usable names");
    }
    Elf_Data* const symbols = piece(table->sh_offset, table->sh_size, ELF_T_SYM);
    if (symbols == nullptr) return broken(".dynsym lies outside the file");
    const auto names = file_calls::read_at(file_, names_header.sh_offset, names_header.sh_size);
    if (!names.ok()) return names.error();

    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names->size()) continue;
      visit(symbol, std::string_view(*names).substr(symbol.st_name));
    }
    return std::nullopt;
  }

  Failure answer_symbols(const ElfQuery& query) {
    if (query.symbols.empty()) return std::nullopt;
    for (const std::string& symbol : query.symbols) facts_.symbols[symbol] = false;
    return for_each_defined([this](const GElf_Sym&, std::string_view rest) {
      for (auto& [wanted, defined] : facts_.symbols) {
        if (!defined && rest.size() > wanted.size() && rest.starts_with(wanted) && rest[wanted.size()] == '\0') {
          defined = true;
        }
      }
    });
  }

  Result<std::string> section_names() const {
    std::size_t index = 0;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf_, &index) != 0 || gelf_getshdr(elf_getscn(elf_, index), &header) == nullptr ||
        header.sh_size > most_names_bytes || !inside(header.sh_offset, header.sh_size)) {
      return broken("its sections have no usable names");
    }
    return file_calls::read_at(file_, header.sh_offset, header.sh_size);
  }

  /// Empty when it lies outside.
  static std::string_view name_in(std::string_view names, std::uint64_t start) {
    const std::string_view rest = names.substr(std::min<std::uint64_t>(start, names.size()));
    const std::size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  }

  Failure answer_device_code(const ElfQuery& query) {
    Elf_Scn* const any = elf_nextscn(elf_, nullptr);
    if (!query.device_code || any == nullptr) return std::nullopt;
    const auto places = device_code();
    if (!places.ok()) return places.error();
    if (places->empty()) return std::nullopt;

    ElfDeviceCode& code = facts_.device_code.emplace();
    code.in_file = false;
    std::set<std::string> targets;
    for (const ElfSectionPlace& place : *places) {
      if (!place.in_file) continue;
      code.in_file = true;
      const auto read = [this](std::uint64_t at, std::size_t count) { return file_calls::read_at(file_, at, count); };
      const BundleWalk walk = walk_bundles(read, place.offset, place.size);
      for (const FoundBundle& bundle : walk.bundles) code.compressed |= bundle.compressed;
      if (!walk.incomplete.empty()) code.complete = false;
      for (std::string& target : bundled_targets(walk)) targets.insert(std::move(target));
    }
    code.targets.assign(targets.begin(), targets.end());
    return std::nullopt;
  }

  Failure answer_strings(const ElfQuery& query) {
    if (query.strings.empty()) return std::nullopt;
    const auto names = section_names();
    if (!names.ok()) return names.error();
    const auto rodata = find_section(
        [&](const GElf_Shdr& s) { return s.sh_type == SHT_PROGBITS && name_in(*names, s.sh_name) == ".rodata"; });
    if (rodata && !inside(rodata->sh_offset, rodata->sh_size)) return broken(".rodata lies outside the file");
    const std::uint64_t size = rodata ? std::min(rodata->sh_size, most_rodata_bytes) : 0;
    const std::uint64_t start = rodata ? rodata->sh_offset : 0;

    std::vector<std::string> missing = query.strings;
    std::size_t overlap = 0;
    for (const std::string& text : missing) overlap = std::max(overlap, text.size());
    for (std::uint64_t at = 0; at < size && !missing.empty(); at += search_block) {
      const auto block =
          file_calls::read_at(file_, start + at, std::min<std::uint64_t>(search_block + overlap, size - at));
      if (!block.ok()) return block.error();
      const auto stands_here = [&](const std::string& text) {
        return memmem(block->data(), block->size(), text.data(), text.size()) != nullptr;
      };
      for (const std::string& text : missing) {
        if (stands_here(text)) facts_.strings[text] = true;
      }
      missing.erase(std::remove_if(missing.begin(), missing.end(),
                                   [&](const std::string& t) { return facts_.strings.contains(t); }),
                    missing.end());
    }
    if (!rodata || rodata->sh_size <= most_rodata_bytes) {
      for (const std::string& text : missing) facts_.strings[text] = false;
    }
    return std::nullopt;
  }

  int file_;
  std::uint64_t file_size_;
  Elf* elf_;
  ElfFacts facts_;
  std::vector<GElf_Phdr> segments_;
  std::optional<std::uint64_t> names_offset_;  ///< of .dynstr
  std::uint64_t names_size_ = 0;
  Chain needs_;
  Chain definitions_;
};

/// Calls `work` with a Reader of the file, once it is sure that libelf will not ask for absurd amounts of memory.
template <class Work>
std::invoke_result_t<Work, Reader&> with_reader(int file, const Work& work) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return system_error(errno, "reading the size");
  const auto file_size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  const auto start = file_calls::read_at(file, 0, sizeof(Elf64_Ehdr));
  if (!start.ok()) return start.error();
  if (!start->starts_with(std::string_view(ELFMAG, SELFMAG)) || start->size() < EI_NIDENT) {
    return Error{ENOEXEC, "not an ELF file"};
  }
  constexpr char own_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  if ((*start)[EI_DATA] != own_order) return Error{ENOEXEC, "an ELF file of the other byte order"};
  const bool sane = (*start)[EI_CLASS] == ELFCLASS64   ? section_table_fits<Elf64_Ehdr, Elf64_Shdr>(*start, file_size)
                    : (*start)[EI_CLASS] == ELFCLASS32 ? section_table_fits<Elf32_Ehdr, Elf32_Shdr>(*start, file_size)
                                                       : false;
  if (!sane) return broken("the section headers lie outside the file");

  if (elf_version(EV_CURRENT) == EV_NONE) return Error{0, "libelf is older than this program"};
  const ElfHandle elf(elf_begin(file, ELF_C_READ, nullptr), elf_end);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return broken("libelf does not recognise it");
  Reader reader(file, file_size, elf.get());
  return work(reader);
}

}  // namespace

Result<ElfFacts> read_elf(int file, const ElfQuery& query) {
  return with_reader(file, [&](Reader& reader) { return reader.read(query); });
}

Result<ElfExports> read_elf_exports(int file, std::size_t most) {
  return with_reader(file, [&](Reader& reader) { return reader.exports(most); });
}

Result<std::vector<ElfSectionPlace>> find_device_code(int file) {
  return with_reader(file, [](Reader& reader) { return reader.device_code(); });
}

}  // namespace sage
