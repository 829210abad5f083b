#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/code_object/bytes.hpp"
#include "probes/base/result.hpp"

namespace sage {

/// No larger output of a compiler, and no larger bundle, is read.
inline constexpr std::size_t largest_object = 64 * 1024 * 1024;

/// The code object in what a compiler wrote: that itself, or the entry of an offload bundle, as compilers write that do
/// not know --no-gpu-bundle-output.
[[nodiscard]] Result<std::vector<std::byte>> unbundled(code_object::ByteSpan file, std::string_view target);

}  // namespace sage
