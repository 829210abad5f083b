#pragma once

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// What the ELF file open at `file` says of itself; see ElfFacts. Errors carry no path. Reads headers, the dynamic
/// section and its names, .dynsym only when symbols are asked, and .rodata only when strings are asked: at most the
/// first 64 MiB of it. A string that was not found there has no answer when .rodata is longer. Of device code only the
/// tables of its bundles are read (bundle_walk.hpp); damage in there makes the answer incomplete, no Error.
[[nodiscard]] Result<ElfFacts> read_elf(int file, const ElfQuery& query);

/// What an ELF file offers to others.
struct ElfExports {
  std::vector<std::string> names;  ///< defined, global or weak, visible symbols of .dynsym, sorted, each once
  bool complete = true;            ///< false: there are more than `most`
};
[[nodiscard]] Result<ElfExports> read_elf_exports(int file, std::size_t most);

/// Where the sections named .hip_fatbin lie in the file; for one that takes no room there (NOBITS) `in_file` is false.
struct ElfSectionPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool in_file = true;
};
[[nodiscard]] Result<std::vector<ElfSectionPlace>> find_device_code(int file);

}  // namespace sage
