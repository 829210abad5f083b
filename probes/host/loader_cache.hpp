#pragma once

#include <string_view>
#include <vector>

#include "probes/base/result.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// The libraries of this program's architecture in the bytes of /etc/ld.so.cache, in their order. Reads the format
/// "glibc-ld.so.cache1.1", also where the older "ld.so-1.7.0" stands before it; anything else is an Error.
/// Source: glibc sysdeps/generic/dl-cache.h.
[[nodiscard]] Result<std::vector<LoaderCacheEntry>> parse_loader_cache(std::string_view bytes);

}  // namespace sage
