#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/facts/toolchains.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// What tells one compiler from another: kind, versions, and canonical path, size and inode of every file that does the work (of hipcc its clang
/// too, of hipRTC the comgr beside it). A compiler that was replaced in place has another inode or size. A file that can't be looked at is named
/// with its error, which makes it differ from one that can.
[[nodiscard]] std::string compiler_identity(const Toolchain& compiler, const Host& host);

/// The text whose digest is the cache's key: everything that decides the bytes of a code object, nothing of this run's paths.
[[nodiscard]] std::string cache_key_text(std::string_view source_digest, std::string_view compiler_identity, std::string_view target,
                                         std::string_view unit, const std::vector<std::string>& flags);

}  // namespace sage
