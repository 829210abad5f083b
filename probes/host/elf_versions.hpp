#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The name at an offset of .dynstr; nullopt when it lies outside.
using NameLookup = std::function<std::optional<std::string>(std::uint64_t)>;

// GNU symbol versions (Linux Standard Base, "Symbol Versioning"): chains of records of which each says how far behind
// it the next one is. `bytes` start at the first record and may go on behind the last; `count` is what DT_VERNEEDNUM
// or DT_VERDEFNUM says. In this machine's byte order; the records of both ELF classes are alike.

/// Sorted by library; the versions of each in the file's order, each once.
[[nodiscard]] Result<std::vector<ElfVersionNeed>> parse_version_needs(std::string_view bytes, std::uint64_t count,
                                                                      const NameLookup& name_at);

/// Without the one that names the file itself (VER_FLG_BASE).
[[nodiscard]] Result<std::vector<std::string>> parse_version_definitions(std::string_view bytes, std::uint64_t count,
                                                                         const NameLookup& name_at);

}  // namespace sage
