#include "probes/host/elf_versions.hpp"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace sage {
namespace {

// The C library defines some 50 versions and a large library wants some 40 of a dozen others. The chains may run into
// each other, so the bytes alone bound nothing.
constexpr std::size_t most_records = 4096;

static_assert(sizeof(Elf32_Verneed) == sizeof(Elf64_Verneed) && sizeof(Elf32_Vernaux) == sizeof(Elf64_Vernaux) &&
              sizeof(Elf32_Verdef) == sizeof(Elf64_Verdef) && sizeof(Elf32_Verdaux) == sizeof(Elf64_Verdaux));

Error broken(std::string_view why) {
  return {ENOEXEC, "damaged ELF file: " + std::string(why)};
}

template <class Record>
std::optional<Record> record_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(Record) > bytes.size() - offset) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + offset, sizeof record);
  return record;
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

}  // namespace

Result<std::vector<ElfVersionNeed>> parse_version_needs(std::string_view bytes, std::uint64_t count,
                                                        const NameLookup& name_at) {
  std::map<std::string, std::vector<std::string>> needs;
  std::size_t records = 0;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (++records > most_records) return broken("more than 4,096 version needs");
    const auto need = record_at<Elf64_Verneed>(bytes, at);
    if (!need || need->vn_version != VER_NEED_CURRENT) return broken("a version need lies outside its table");
    const auto library = name_at(need->vn_file);
    if (!library) return broken("a version need has no library");
    std::vector<std::string>& versions = needs[*library];
    std::uint64_t version_at = at + need->vn_aux;
    for (std::uint32_t j = 0; j < need->vn_cnt; ++j) {
      if (++records > most_records) return broken("more than 4,096 version needs");
      const auto version = record_at<Elf64_Vernaux>(bytes, version_at);
      if (!version) return broken("a needed version lies outside its table");
      auto name = name_at(version->vna_name);
      if (!name) return broken("a needed version has no name");
      add_once(versions, *std::move(name));
      if (version->vna_next == 0) break;
      version_at += version->vna_next;
    }
    if (need->vn_next == 0) break;
    at += need->vn_next;
  }
  std::vector<ElfVersionNeed> list;
  for (auto& [library, versions] : needs) list.push_back({library, std::move(versions)});
  return list;
}

Result<std::vector<std::string>> parse_version_definitions(std::string_view bytes, std::uint64_t count,
                                                           const NameLookup& name_at) {
  std::vector<std::string> names;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i == most_records) return broken("more than 4,096 version definitions");
    const auto definition = record_at<Elf64_Verdef>(bytes, at);
    if (!definition || definition->vd_version != VER_DEF_CURRENT) {
      return broken("a version definition lies outside its table");
    }
    if ((definition->vd_flags & VER_FLG_BASE) == 0) {
      // The first name is the version's own, the others are those of versions that it includes.
      const auto own = record_at<Elf64_Verdaux>(bytes, at + definition->vd_aux);
      auto name = own ? name_at(own->vda_name) : std::nullopt;
      if (!name) return broken("a version definition has no name");
      add_once(names, *std::move(name));
    }
    if (definition->vd_next == 0) break;
    at += definition->vd_next;
  }
  return names;
}

}  // namespace sage
