#pragma once

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// What the ELF file open at `file` says of itself; see ElfFacts. Errors carry no path. Reads headers, the dynamic
/// section and its names, .dynsym only when symbols are asked, and .rodata only when strings are asked: at most the
/// first 64 MiB of it. A string that was not found there has no answer when .rodata is longer.
[[nodiscard]] Result<ElfFacts> read_elf(int file, const ElfQuery& query);

}  // namespace sage
